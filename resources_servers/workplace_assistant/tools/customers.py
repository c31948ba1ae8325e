"""The customer relationship manager."""

from __future__ import annotations

from blade_gym.environment import ToolError

from ..company import PRODUCTS, STATUSES, TODAY
from ..state import Record, State
from .toolbox import PAGING, Given, Output, Tool, a_day, an_address, found, holds, paged, text

CHANGEABLE = (
    "customer_name",
    "assigned_to_email",
    "customer_email",
    "customer_phone",
    "last_contact_date",
    "product_interest",
    "status",
    "notes",
    "follow_up_by",
)
_AMONG = {"status": STATUSES, "product_interest": PRODUCTS}
_DAYS = ("last_contact_date", "follow_up_by")


def _fits(record: Record, given: Given) -> bool:
    for name, value in given.items():
        field, _, bound = name.rpartition("_")
        if bound in ("min", "max") and value:
            day = a_day(value, name)
            if (str(record[field]) < day) if bound == "min" else (str(record[field]) > day):
                return False
        elif (name in ("customer_name", "customer_email") and value and not holds(record, (name,), value)) or (
            name in ("product_interest", "status", "assigned_to_email")
            and value
            and str(record[name]).lower() != value.lower()
        ):
            return False
    return True


def _search(state: State, given: Given) -> Output:
    records = [one for one in state.tables["customers"].values() if _fits(one, given)]
    return paged(records, given, "customers")


def _checked(field: str, value: str) -> str:
    if field in _DAYS:
        return a_day(value, field)
    if field in ("assigned_to_email", "customer_email"):
        return an_address(value, field)
    if field in _AMONG and value not in _AMONG[field]:
        raise ToolError(f"Error: {field} must be one of: {', '.join(_AMONG[field])}.")
    return value


def _update(state: State, given: Given) -> Output:
    record = found(state, "customers", given["customer_id"], "customer")
    record[given["field"]] = _checked(given["field"], given["new_value"])
    return "The customer was changed."


def _add(state: State, given: Given) -> Output:
    empty = {"last_contact_date": str(TODAY), "follow_up_by": ""}
    record = {name: _checked(name, given[name]) if given.get(name) else empty.get(name, "") for name in CHANGEABLE}
    return state.add("customers", record)


def _delete(state: State, given: Given) -> Output:
    found(state, "customers", given["customer_id"], "customer")
    del state.tables["customers"][given["customer_id"]]
    return "The customer was deleted."


_ID = text("The customer's ID of eight digits.")

TOOLS = (
    Tool(
        name="customer_relationship_manager_search_customers",
        description="Finds customers that fit everything that is given.",
        parameters={
            "customer_name": text("Words in the customer's name."),
            "customer_email": text("Words in the customer's e-mail address."),
            "product_interest": text("Product that they are interested in."),
            "status": text("Stage that they are in."),
            "assigned_to_email": text("E-mail address of the colleague they are assigned to, in full."),
            "last_contact_date_min": text("First day of last contact, YYYY-MM-DD; that day counts."),
            "last_contact_date_max": text("Last day of last contact, YYYY-MM-DD; that day counts."),
            "follow_up_by_min": text("First day of the follow-up, YYYY-MM-DD; that day counts."),
            "follow_up_by_max": text("Last day of the follow-up, YYYY-MM-DD; that day counts."),
            **PAGING,
        },
        required=(),
        run=_search,
    ),
    Tool(
        name="customer_relationship_manager_update_customer",
        description="Changes one field of a customer.",
        parameters={
            "customer_id": _ID,
            "field": text("Which field.", CHANGEABLE),
            "new_value": text("What it becomes."),
        },
        required=("customer_id", "field", "new_value"),
        run=_update,
        changes=True,
    ),
    Tool(
        name="customer_relationship_manager_add_customer",
        description="Adds a customer and returns the ID.",
        parameters={
            "customer_name": text("Name of the customer."),
            "assigned_to_email": text("E-mail address of the colleague they are assigned to."),
            "status": text("Stage that they are in.", STATUSES),
            "customer_email": text("E-mail address of the customer."),
            "customer_phone": text("Phone number of the customer."),
            "last_contact_date": text("Day of the last contact, YYYY-MM-DD."),
            "product_interest": text("Product that they are interested in.", PRODUCTS),
            "notes": text("Notes."),
            "follow_up_by": text("Day of the next follow-up, YYYY-MM-DD."),
        },
        required=("customer_name", "assigned_to_email", "status"),
        run=_add,
        changes=True,
    ),
    Tool(
        name="customer_relationship_manager_delete_customer",
        description="Deletes a customer.",
        parameters={"customer_id": _ID},
        required=("customer_id",),
        run=_delete,
        changes=True,
    ),
)
