"""A binding to a part of a value: `IngredientRow(ingredient: $pizza.ingredients[id])`, a row that edits one ingredient.

The row is given a binding, and knows neither the pizza nor the other ingredients. What it sets is set in the pizza;
observers of another ingredient get nothing.
"""

from __future__ import annotations

import geomodel

CHEESE, HAM = "/viewModels/pizza/ingredients/cheese", "/viewModels/pizza/ingredients/ham"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def add_one(server: geomodel.SyncServer, amount: str) -> int:
    """The row's plus button, which has only a binding."""
    more = server.binding.get(binding=amount)["value"] + 1
    return int(server.binding.set(binding=amount, value=more)["value"])


with geomodel.launch_sync() as server:
    server.view_model.create(
        id="pizza",
        properties=[
            {"name": "ingredients", "type": "dictionary"},
            {
                "name": "price",
                "type": "number",
                "derived": {
                    "expression": "8 + cheese * 1.5 + ham * 2",
                    "inputs": {"cheese": "./ingredients/cheese/amount", "ham": "./ingredients/ham/amount"},
                },
            },
        ],
        values={"ingredients": {"cheese": {"amount": 2}, "ham": {"amount": 1}}},
    )
    row = server.binding.create(path=f"{CHEESE}/amount", owner="pizza")["binding"]

    with server.observe(CHEESE) as cheese, server.observe(HAM) as ham:
        check(add_one(server, row) == 3, "the row sets one ingredient")
        print(f"    {[change.changes for change in cheese.take_all()]}")
        check(cheese.at(f"{CHEESE}/amount") == 3, "its subscriber gets the change")
        check(not ham.take_all(), "the subscriber of another gets nothing")

    pizza = server.view_model.get(view_model="pizza")["values"]
    check(pizza["ingredients"] == {"cheese": {"amount": 3}, "ham": {"amount": 1}}, "the pizza has it, and the rest as it was")
    check(pizza["price"] == 14.5, "its price follows")
    server.view_model.set(view_model="pizza", path="/ingredients/cheese/amount", value=0)
    check(server.binding.get(binding=row)["value"] == 0, "the row sees what others set")
    server.edit.undo()
    check(server.binding.get(binding=row)["value"] == 3, "and what is undone")
