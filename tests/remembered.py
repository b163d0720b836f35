"""What every session of botocore finds out anew, found out once for all of a test process: a tenth of what moto costs.

All of it is read from files that do not change, or computed from names alone. The models of services stay each
session's own, since moto writes into them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from botocore.hooks import EventAliaser
from botocore.loaders import JSONFileLoader, Loader

_files: dict[str, Any] = {}
_services: dict[tuple[str, ...], Any] = {}
_events: dict[str, str] = {}

_load_file = JSONFileLoader.load_file
_list_services = Loader.list_available_services
_alias = EventAliaser._alias_event_name  # type: ignore[attr-defined]


def _load_file_once(self: JSONFileLoader, file_path: str) -> Any:
    if "service-2" in Path(file_path).name:
        return _load_file(self, file_path)
    if file_path not in _files:
        _files[file_path] = _load_file(self, file_path)
    return _files[file_path]


def _list_services_once(self: Loader, type_name: str) -> Any:
    place = (type_name, *self.search_paths)
    if place not in _services:
        _services[place] = _list_services(self, type_name)
    return list(_services[place])


def _alias_once(self: EventAliaser, event_name: str) -> str:
    if event_name not in _events:
        _events[event_name] = _alias(self, event_name)
    return _events[event_name]


def remember() -> None:
    """Let botocore remember, for as long as this process lives."""
    JSONFileLoader.load_file = _load_file_once  # type: ignore[method-assign]
    Loader.list_available_services = _list_services_once  # type: ignore[method-assign]
    EventAliaser._alias_event_name = _alias_once  # type: ignore[attr-defined]
