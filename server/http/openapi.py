"""The description of the API (OpenAPI 3.1), made from the table of endpoints."""

import http
import importlib.metadata
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

from server.db.schema import MAX_ID
from server.http.endpoint import API, Call, Endpoint, answer
from server.http.errors import PROBLEM_TYPE, Problem
from server.http.validation import JSON_TYPE, given

Json: TypeAlias = dict[str, Any]

PATH = f"{API}/openapi.json"

_REF = "#/components/schemas/{name}"
_PROBLEM = {"$ref": _REF.format(name=Problem.__name__)}
_TOKEN = {"bearer": {"type": "http", "scheme": "bearer", "description": "A token of this server."}}

_PATH_PARAMETERS: Mapping[str, Json] = {
    "id": {"type": "integer", "minimum": 1, "maximum": MAX_ID},
    "ladder": {"type": "string", "minLength": 1, "description": "the name of a ladder"},
    "name": {"type": "string", "minLength": 1, "description": "the name of an agent"},
}

_HEADERS: Mapping[int, Json] = {
    401: {"WWW-Authenticate": {"required": True, "schema": {"const": "Bearer"}}},
    429: {
        "Retry-After": {
            "required": True,
            "description": "Seconds to wait.",
            "schema": {"type": "integer", "minimum": 1},
        }
    },
}
"""Headers that every answer of a status has."""


class Description(msgspec.Struct, frozen=True):
    """What stands at the top of the description."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]


def described(table: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """Return the table with one endpoint more: the description of them all, itself included."""
    whole: list[Endpoint] = [*table]

    async def openapi(_call: Call) -> web.Response:
        """Answer the description."""
        return answer(document(whole))

    whole.append(Endpoint("GET", PATH, openapi, "This description of the API.", {200: Description}))
    return tuple(whole)


def document(table: Iterable[Endpoint]) -> Description:
    """Describe the endpoints of a table."""
    table = list(table)
    answered = [kind for endpoint in table for kind in endpoint.all_answers.values() if _is_json(kind)]
    asked = [endpoint.body for endpoint in table if endpoint.body]
    refs, schemas = msgspec.json.schema_components([*answered, *asked], ref_template=_REF)
    _, of_answers = msgspec.json.schema_components(answered, ref_template=_REF)
    for name in of_answers:
        _all_there(schemas[name])
    names = dict(zip([*answered, *asked], refs, strict=True))
    paths: dict[str, Json] = {}
    for endpoint in table:
        operation = _operation(endpoint, names)
        at = paths.setdefault(endpoint.path, {})
        at[endpoint.method.lower()] = operation
        if endpoint.method == "GET":
            at["head"] = _without_bodies(operation)
    return Description(
        openapi="3.1.0",
        info={
            "title": "Plyground",
            "version": importlib.metadata.version("plyground"),
            "description": "Ladders, matches and agents of a Plyground server.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        paths=paths,
        components={"schemas": _tidy(schemas), "securitySchemes": _TOKEN},
    )


def _is_json(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, str)


def _operation(endpoint: Endpoint, names: Mapping[Any, Json]) -> Json:
    operation: Json = {
        "operationId": endpoint.handler.__name__,
        "summary": endpoint.summary,
        "parameters": _parameters(endpoint),
        "responses": {
            **{str(status): _answer(endpoint, status, names) for status in endpoint.all_answers},
            "5XX": {
                "description": "A fault of the server, or a database out of reach.",
                "content": _content(Problem, names),
            },
        },
    }
    if endpoint.body:
        operation["requestBody"] = {
            "required": True,
            "content": {JSON_TYPE: {"schema": names[endpoint.body]}},
        }
    if endpoint.scopes:
        operation["security"] = [{"bearer": []}, *([{}] if endpoint.open_to_some else [])]
        operation["description"] = f"Tokens of scope {' or '.join(endpoint.scopes)}."
    return operation


def _parameters(endpoint: Endpoint) -> list[Json]:
    found = [
        {"name": name, "in": "path", "required": True, "schema": _PATH_PARAMETERS[name]}
        for name in re.findall(r"{(\w+)}", endpoint.path)
    ]
    asked = msgspec.structs.fields(endpoint.query)
    for field in asked:
        schema = msgspec.json.schema(given(field.type))
        if field.default is not None:
            schema["default"] = field.default
        found.append({"name": field.encode_name, "in": "query", "required": False, "schema": schema})
    return found


def _answer(endpoint: Endpoint, status: int, names: Mapping[Any, Json]) -> Json:
    told = {
        name: {"required": True, "description": meaning, "schema": {"type": "string"}}
        for name, meaning in endpoint.headers.get(status, {}).items()
    }
    described: Json = {"description": http.HTTPStatus(status).phrase}
    headers = {**_HEADERS.get(status, {}), **told}
    if headers:
        described["headers"] = headers
    content = _content(endpoint.all_answers[status], names)
    if content:
        described["content"] = content
    return described


def _content(kind: Any, names: Mapping[Any, Json]) -> Json:
    if kind is None:
        return {}
    if kind is Problem:
        return {PROBLEM_TYPE: {"schema": _PROBLEM}}
    return (
        {kind: {"schema": {"type": "string"}}}
        if isinstance(kind, str)
        else {JSON_TYPE: {"schema": names[kind]}}
    )


def _without_bodies(operation: Json) -> Json:
    """Describe HEAD by what GET is: the same but for the bodies."""
    answers = {
        status: {key: value for key, value in answer.items() if key != "content"}
        for status, answer in operation["responses"].items()
    }
    return {**operation, "operationId": f"head_{operation['operationId']}", "responses": answers}


def _all_there(schema: Json) -> None:
    """Say of an answer that its fields with a default are always told too."""
    fields = schema.get("properties", {})
    with_default = [name for name, field in fields.items() if "default" in field]
    schema["required"] = [*schema.get("required", []), *with_default]
    for name in with_default:
        del fields[name]["default"]


def _tidy(value: Any) -> Any:
    """Join the lines of the descriptions, which come from docstrings."""
    if isinstance(value, dict):
        return {
            key: " ".join(part.split()) if key == "description" and isinstance(part, str) else _tidy(part)
            for key, part in value.items()
        }
    return [_tidy(part) for part in value] if isinstance(value, list) else value
