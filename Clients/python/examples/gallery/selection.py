"""A selection: the countries that an expression finds, with a line of the selection's colour around them."""

from gallery_support import label, save, world

with world("countries", reference="EPSG:3857", center=(-62, -22), scale=70e6, width=400, height=440) as server:
    server.layer.update(layer="countries", labels=[label("name")], labels_enabled=True)
    found = server.feature.select(layer="countries", where_clause="continent = 'South America' AND pop_est > 30000000")
    print(f"{found['selectedCount']} countries are selected")
    save(server.view.render(view="view"))
