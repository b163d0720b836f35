"""Intrinsic functions, followed as far as the templates allow.

A reference to a resource resolves to text with a *handle* in it, ``⟦Template/LogicalId.Attribute⟧`` (``Ref`` has no
attribute), so that ``{Fn::Join: ["", [{Fn::GetAtt: [Fn, Arn]}, ":live"]]}`` stays one string that still names its
function. Pseudo parameters stay, as ``${Region}``. What only a deployment knows is an `Unknown` with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .template import Template, Unknown

HANDLE = re.compile(r"⟦(?P<template>[^⟦⟧/]+)/(?P<id>[A-Za-z0-9]+)(?:\.(?P<attribute>[^⟦⟧]+))?⟧")
_PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a nested stack's template is declared: the parent's template name and the stack resource's logical id."""

    parent: str
    stack_id: str


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves raw template values over a set of templates. *nested* binds nested templates to their parents."""

    templates: Mapping[str, Template]
    nested: Mapping[str, Binding] = field(default_factory=dict)

    def value(self, raw: Any, *, within: str, depth: int = 0) -> Any:
        """*raw* with every intrinsic function resolved, or an `Unknown` in the place of what is not."""
        if depth > _DEEPEST:
            return Unknown("references go round in a circle")
        if isinstance(raw, Mapping):
            if len(raw) == 1:
                ((name, argument),) = raw.items()
                if name == "Ref" or name.startswith("Fn::"):
                    return self._intrinsic(name, argument, within=within, depth=depth + 1)
            return {key: self.value(item, within=within, depth=depth + 1) for key, item in raw.items()}
        if isinstance(raw, list):
            return [self.value(item, within=within, depth=depth + 1) for item in raw]
        return raw

    def _intrinsic(self, name: str, argument: Any, *, within: str, depth: int) -> Any:
        known: dict[str, Callable[[Any, str, int], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._attribute,
            "Fn::Join": self._join,
            "Fn::Sub": self._substitute,
            "Fn::ImportValue": self._import,
            "Fn::GetStackOutput": self._stack_output,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::FindInMap": self._find_in_map,
            "Fn::If": self._if,
        }
        follow = known.get(name)
        if follow is None:
            return Unknown(f"{name} is evaluated at deployment")
        try:
            return follow(argument, within, depth)
        except (TypeError, ValueError, AttributeError, KeyError):
            return Unknown(f"the argument of {name} is not what CloudFormation takes")

    def _ref(self, argument: Any, within: str, depth: int) -> Any:
        if argument == "AWS::NoValue":
            return None
        name = str(argument)
        if name.startswith("AWS::"):
            # Without the colons, so that an ARN with pseudo parameters still splits at its own.
            return f"${{{name.removeprefix('AWS::')}}}"
        if name in self.templates[within].resources:
            return f"⟦{within}/{name}⟧"
        binding = self.nested.get(within)
        if binding is not None:
            parent = self.templates[binding.parent].resources[binding.stack_id]
            given = parent.properties.get("Parameters", {})
            if name in given:
                return self.value(given[name], within=binding.parent, depth=depth)
        if name in self.templates[within].body.get("Parameters", {}):
            return Unknown(f"parameter {name} gets its value at deployment")
        return Unknown(f"{name} is not in template {within}")

    def _attribute(self, argument: Any, within: str, depth: int) -> Any:
        parts = argument.split(".", 1) if isinstance(argument, str) else [str(part) for part in argument]
        if len(parts) != 2:
            return Unknown("Fn::GetAtt without an attribute")
        id, attribute = parts
        if id not in self.templates[within].resources:
            return Unknown(f"{id} is not in template {within}")
        if attribute.startswith("Outputs."):
            for child, binding in self.nested.items():
                if binding == Binding(within, id):
                    return self._output(child, attribute.removeprefix("Outputs."), depth)
        return f"⟦{within}/{id}.{attribute}⟧"

    def _output(self, template: str, name: str, depth: int) -> Any:
        output = self.templates[template].body.get("Outputs", {}).get(name)
        if output is None:
            return Unknown(f"template {template} has no output {name}")
        return self.value(output.get("Value"), within=template, depth=depth)

    def _join(self, argument: Any, within: str, depth: int) -> Any:
        separator, items = argument
        parts = self.value(items, within=within, depth=depth)
        return self._text(parts, separator) if isinstance(parts, list) else parts

    @staticmethod
    def _text(parts: Sequence[Any], separator: str) -> Any:
        for part in parts:
            if isinstance(part, Unknown):
                return part
            if isinstance(part, (list, Mapping)):
                return Unknown("a list is joined that only a deployment knows")
        return separator.join(str(part) for part in parts)

    def _substitute(self, argument: Any, within: str, depth: int) -> Any:
        text, variables = argument if isinstance(argument, list) else (argument, {})
        pieces: list[Any] = []
        end = 0
        for match in _PLACEHOLDER.finditer(text):
            name = match.group(1).strip()
            pieces.append(text[end : match.start()])
            raw: Any = variables.get(name, {"Fn::GetAtt" if "." in name else "Ref": name})
            pieces.append(self.value(raw, within=within, depth=depth))
            end = match.end()
        return self._text([*pieces, text[end:].replace("${!", "${")], "")

    def _import(self, argument: Any, within: str, depth: int) -> Any:
        wanted = self.value(argument, within=within, depth=depth)
        if isinstance(wanted, Unknown):
            return wanted
        for template in self.templates.values():
            for output in template.body.get("Outputs", {}).values():
                name = output.get("Export", {}).get("Name")
                if name is not None and self.value(name, within=template.name, depth=depth) == wanted:
                    return self.value(output.get("Value"), within=template.name, depth=depth)
        return Unknown(f"export {wanted} comes from a stack that is not in this app")

    def _stack_output(self, argument: Any, within: str, depth: int) -> Any:
        stack = self.value(argument.get("StackName"), within=within, depth=depth)
        for template in self.templates.values():
            if template.stack == stack:
                return self._output(template.name, str(argument.get("OutputName")), depth)
        return Unknown(f"an output of stack {stack}, which is not in this app")

    def _select(self, argument: Any, within: str, depth: int) -> Any:
        index, items = self.value(argument, within=within, depth=depth)
        if isinstance(items, list) and str(index).isdigit() and int(index) < len(items):
            return items[int(index)]
        return items if isinstance(items, Unknown) else Unknown("Fn::Select of a list that only a deployment knows")

    def _split(self, argument: Any, within: str, depth: int) -> Any:
        separator, raw = argument
        text = self.value(raw, within=within, depth=depth)
        if isinstance(text, Unknown):
            return text
        handle = HANDLE.fullmatch(text)
        if handle and separator == ":":
            return self._qualified_arn(handle, depth)
        return Unknown("Fn::Split of what only a deployment knows") if HANDLE.search(text) else text.split(separator)

    def _qualified_arn(self, handle: re.Match[str], depth: int) -> Any:
        """The parts of what ``Ref`` of an alias or a version is: CDK takes the function's name from it."""
        resource = self.templates[handle["template"]].resources[handle["id"]]
        if resource.type not in ("AWS::Lambda::Alias", "AWS::Lambda::Version") or handle["attribute"]:
            return Unknown(f"the parts of {resource.id}'s ARN are known at deployment")
        name = self.value(resource.properties.get("FunctionName"), within=handle["template"], depth=depth)
        return ["arn", "${Partition}", "lambda", "${Region}", "${AccountId}", "function", name, handle[0]]

    def _find_in_map(self, argument: Any, within: str, depth: int) -> Any:
        keys = self.value(argument, within=within, depth=depth)
        node: Any = self.templates[within].body.get("Mappings", {})
        for key in keys[:3]:
            if not isinstance(node, Mapping) or not isinstance(key, str) or key not in node:
                return Unknown("Fn::FindInMap with a key that only a deployment knows")
            node = node[key]
        return node

    def _if(self, argument: Any, within: str, depth: int) -> Any:
        condition, *branches = argument
        values = [self.value(branch, within=within, depth=depth) for branch in branches]
        if len(values) == 2 and values[0] == values[1]:
            return values[0]
        return Unknown(f"depends on condition {condition}")
