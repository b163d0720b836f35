"""Which messages stay in the queue after which response: the table of the Lambda developer guide."""

from __future__ import annotations

import itertools

import pytest

from surehand.testing.simulator import kept

ALL = frozenset({"a", "b", "c"})


@pytest.mark.parametrize(
    "response",
    [
        None,
        "",
        {},
        {"batchItemFailures": []},
        {"batchItemFailures": None},
        {"batchItemfailures": [{"itemIdentifier": "a"}]},
    ],
)
def test_these_responses_delete_the_whole_batch(response):
    assert kept(response, ALL, partial=True) == frozenset()


@pytest.mark.parametrize(
    "failures",
    [
        [{"itemIdentifier": ""}],
        [{"itemIdentifier": None}],
        [{"itemIdentifier": 7}],
        [{"foo": "a"}],
        [{}],
        ["a"],
        [{"itemIdentifier": "unknown"}],
        [{"itemIdentifier": "a"}, {"itemIdentifier": "unknown"}],
        "a",
        {"itemIdentifier": "a"},
    ],
)
def test_one_bad_entry_keeps_the_whole_batch(failures):
    assert kept({"batchItemFailures": failures}, ALL, partial=True) == ALL


@pytest.mark.parametrize("response", ["done", [1], 7, True])
def test_what_is_no_response_object_keeps_the_whole_batch(response):
    assert kept(response, ALL, partial=True) == ALL


@pytest.mark.parametrize("chosen", [subset for size in range(4) for subset in itertools.combinations("abc", size)])
def test_a_valid_list_keeps_exactly_its_messages(chosen):
    response = {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in chosen]}
    assert kept(response, ALL, partial=True) == frozenset(chosen)


@pytest.mark.parametrize("response", [None, "done", {"batchItemFailures": [{"itemIdentifier": "a"}]}])
def test_without_the_flag_every_return_deletes_the_whole_batch(response):
    assert kept(response, ALL, partial=False) == frozenset()
