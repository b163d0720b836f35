"""A synthesised CloudFormation template, read as data: no node, no jsii, no construct tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that no reading of the templates can give; *reason* says why, for the report."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One resource of one template. Compared by identity, so that equal bodies stay different resources."""

    template: str
    id: str
    type: str
    body: Mapping[str, Any]

    @property
    def properties(self) -> Mapping[str, Any]:
        """The raw, unresolved properties."""
        found = self.body.get("Properties")
        return found if isinstance(found, Mapping) else {}

    @property
    def construct_path(self) -> str:
        """The construct's path as CDK records it, or the logical id in a template written by hand."""
        path = str(self.metadata.get("aws:cdk:path", self.id))
        return path.removesuffix("/Resource")

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The resource's Metadata section."""
        found = self.body.get("Metadata")
        return found if isinstance(found, Mapping) else {}

    @property
    def label(self) -> str:
        """How messages name the resource: its kind and its construct path."""
        return f"{self.type.rsplit('::', 1)[-1]} {self.construct_path}"

    def put(self, *path: str | int, value: Any) -> Edit:
        """The edit that sets the property at *path*."""
        return Edit(template=self.template, path=("Resources", self.id, "Properties", *path), value=value)

    def put_attribute(self, name: str, value: Any) -> Edit:
        """The edit that sets a resource attribute beside Properties, such as DeletionPolicy."""
        return Edit(template=self.template, path=("Resources", self.id, name), value=value)

    def drop(self, *path: str | int) -> Edit:
        """The edit that removes the property at *path*."""
        return Edit(template=self.template, path=("Resources", self.id, "Properties", *path), value=None, remove=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One mechanical change of a template: *value* placed at *path*, or the path removed."""

    template: str
    path: tuple[str | int, ...]
    value: Any
    remove: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template with what is known about the stack it belongs to; *account* and *region* are None when agnostic."""

    name: str
    body: Mapping[str, Any]
    stack: str = ""
    account: str | None = None
    region: str | None = None
    resources: Mapping[str, Resource] = field(default_factory=dict)

    @staticmethod
    def read(
        name: str, body: Mapping[str, Any], *, stack: str = "", account: str | None = None, region: str | None = None
    ) -> Template:
        """Index the resources of *body*. Entries that are no resources (``Fn::ForEach``) are left to rule X01."""
        resources = {
            id: Resource(name, id, str(resource.get("Type", "")), resource)
            for id, resource in (body.get("Resources") or {}).items()
            if isinstance(resource, Mapping)
        }
        return Template(name=name, body=body, stack=stack or name, account=account, region=region, resources=resources)

    def of_type(self, *types: str) -> Iterator[Resource]:
        """The resources of the given CloudFormation types, in template order."""
        return (resource for resource in self.resources.values() if resource.type in types)


def apply(templates: Mapping[str, Mapping[str, Any]], edits: tuple[Edit, ...]) -> dict[str, dict[str, Any]]:
    """A copy of *templates* with *edits* made. Raises KeyError for an edit of a template that is not there."""
    result: dict[str, Any] = {name: _copy(body) for name, body in templates.items()}
    for edit in edits:
        node = result[edit.template]
        for step, following in zip(edit.path[:-1], edit.path[1:], strict=True):
            if isinstance(step, str) and not isinstance(node.get(step), (dict, list)):
                node[step] = [] if isinstance(following, int) else {}
            node = node[step]
        last = edit.path[-1]
        if edit.remove:
            del node[last]
        elif isinstance(node, list) and isinstance(last, int) and last == len(node):
            node.append(_copy(edit.value))
        else:
            node[last] = _copy(edit.value)
    return result


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return value
