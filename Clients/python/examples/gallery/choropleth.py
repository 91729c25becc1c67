"""A choropleth: gross domestic product a head in five classes of equally many countries, with its legend."""

from typing import Any

from gallery_support import fill, save, world

RAMP = ["#EDF8E9", "#BAE4B3", "#74C476", "#31A354", "#006D2C"]

with world("countries", width=700, center=(35, 12)) as server:
    server.layer.update(layer="countries", definition_expression="continent <> 'Antarctica'")
    made: Any = server.layer.class_breaks(
        layer="countries", expression="gdp_md_est * 1000000 / pop_est", method="quantile", class_count=5, colors=RAMP,
        symbol=fill("#FFFFFF", "#93A98F"))["renderer"]
    for each in made["breaks"]:
        each["label"] = f"up to {each['maxValue']:,.0f}"
    made.update(defaultSymbol=fill("#D0D0D0", "#93A98F"), defaultLabel="no data")
    server.layer.update(layer="countries", name="Dollars a head", renderer=made)
    save(server.view.render(view="view", layout={"legend": True}))
