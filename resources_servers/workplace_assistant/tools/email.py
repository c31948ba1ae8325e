"""E-mail: search, read, send, forward, reply, delete."""

from __future__ import annotations

from ..company import NOW
from ..state import State
from .toolbox import PAGING, Given, Output, Tool, a_day, an_address, found, holds, paged, text

FIELDS = ("email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body")


def _information(state: State, given: Given) -> Output:
    return {given["field"]: found(state, "emails", given["email_id"], "e-mail")[given["field"]]}


def _search(state: State, given: Given) -> Output:
    records = list(state.tables["emails"].values())
    if given.get("query"):
        records = [one for one in records if holds(one, ("subject", "body", "sender/recipient"), given["query"])]
    if given.get("date_min"):
        first = a_day(given["date_min"], "date_min")
        records = [one for one in records if str(one["sent_datetime"])[:10] >= first]
    if given.get("date_max"):
        last = a_day(given["date_max"], "date_max")
        records = [one for one in records if str(one["sent_datetime"])[:10] <= last]
    newest_first = sorted(records, key=lambda one: (str(one["sent_datetime"]), str(one["email_id"])), reverse=True)
    return paged(newest_first, given, "emails")


def _out(state: State, recipient: str, subject: str, body: str) -> None:
    record = {
        "inbox/outbox": "outbox",
        "sender/recipient": recipient,
        "subject": subject,
        "sent_datetime": str(NOW),
        "body": body,
    }
    state.add("emails", record)


def _send(state: State, given: Given) -> Output:
    _out(state, an_address(given["recipient"], "recipient"), given["subject"], given["body"])
    return "The e-mail was sent."


def _delete(state: State, given: Given) -> Output:
    found(state, "emails", given["email_id"], "e-mail")
    del state.tables["emails"][given["email_id"]]
    return "The e-mail was deleted."


def _forward(state: State, given: Given) -> Output:
    record = found(state, "emails", given["email_id"], "e-mail")
    _out(state, an_address(given["recipient"], "recipient"), f"FW: {record['subject']}", str(record["body"]))
    return "The e-mail was forwarded."


def _reply(state: State, given: Given) -> Output:
    record = found(state, "emails", given["email_id"], "e-mail")
    _out(state, str(record["sender/recipient"]), f"RE: {record['subject']}", given["body"])
    return "The reply was sent."


_ID = text("The e-mail's ID of eight digits.")

TOOLS = (
    Tool(
        name="email_get_email_information_by_id",
        description="Returns one field of an e-mail.",
        parameters={"email_id": _ID, "field": text("Which field.", FIELDS)},
        required=("email_id", "field"),
        run=_information,
    ),
    Tool(
        name="email_search_emails",
        description="Finds e-mails, newest first. Every word of the query must stand in the subject, the body or the other party's address.",
        parameters={
            "query": text("Words to look for."),
            "date_min": text("First day on which it may have been sent, YYYY-MM-DD; that day counts."),
            "date_max": text("Last day on which it may have been sent, YYYY-MM-DD; that day counts."),
            **PAGING,
        },
        required=(),
        run=_search,
    ),
    Tool(
        name="email_send_email",
        description="Sends an e-mail.",
        parameters={
            "recipient": text("E-mail address."),
            "subject": text("Subject line."),
            "body": text("Text of the e-mail."),
        },
        required=("recipient", "subject", "body"),
        run=_send,
        changes=True,
    ),
    Tool(
        name="email_delete_email",
        description="Deletes an e-mail.",
        parameters={"email_id": _ID},
        required=("email_id",),
        run=_delete,
        changes=True,
    ),
    Tool(
        name="email_forward_email",
        description="Forwards an e-mail.",
        parameters={"email_id": _ID, "recipient": text("E-mail address.")},
        required=("email_id", "recipient"),
        run=_forward,
        changes=True,
    ),
    Tool(
        name="email_reply_email",
        description="Replies to an e-mail.",
        parameters={"email_id": _ID, "body": text("Text of the reply.")},
        required=("email_id", "body"),
        run=_reply,
        changes=True,
    ),
)
