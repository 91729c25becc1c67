// Kinds of objects: each is declared once, in its domain; the model's collections and the forms in documents are derived.

struct Kind {
  enum IDs: String, CaseIterable { case unique, names, nodes }
  /// The form of the objects in documents: none; written by special code; in a list of the document, by their members.
  enum Document: String, CaseIterable { case none, own, listed }

  var path: Path
  var domain: String
  /// The member of the state tree's root that contains the objects.
  var collection: String
  /// The Swift type of one object.
  var model: String
  /// The noun for one object, which is also the name of the member with its id on the wire.
  var noun: String
  /// The preceding collection in the tree; nil for the first one.
  var after: String?
  var ids: IDs
  /// Whether an object closes with its `owner`.
  var isOwned: Bool
  /// Whether undo removes and restores the objects.
  var isUndoable: Bool
  var document: Document
}

extension Kind {
  init(_ reader: ObjectReader, domain: String) {
    let collection = reader.requiredString("collection")
    self.init(
      path: reader.path, domain: domain, collection: collection, model: reader.requiredString("model"),
      noun: reader.string("noun") ?? String(collection.dropLast()), after: reader.string("after"),
      ids: reader.choice("ids", IDs.self) ?? .unique, isOwned: reader.flag("owned"),
      isUndoable: reader.flag("undo", isRequired: true),
      document: reader.choice("document", Document.self, isRequired: true) ?? .none)
  }
}

extension Definition {
  /// Orders the kinds of all domains: each follows the kind that it names; kinds that name the same one are sorted by name.
  mutating func orderKinds(_ problems: Problems) {
    let all = domains.flatMap(\.kinds).sorted { $0.collection < $1.collection }
    for kind in all {
      problems.unique("collection \(kind.collection)", at: kind.path, "collection \(kind.collection) is defined twice")
      problems.unique("noun \(kind.noun)", at: kind.path, "noun \(kind.noun) is defined twice")
    }
    let following = Dictionary(grouping: all) { $0.after ?? "" }
    func add(after name: String) {
      for kind in following[name] ?? [] where !kinds.contains(where: { $0.collection == kind.collection }) {
        kinds.append(kind)
        add(after: kind.collection)
      }
    }
    add(after: "")
    for kind in all where !kinds.contains(where: { $0.collection == kind.collection }) {
      problems.report(kind.path / "after", "no order of collections has \(kind.collection) behind \(kind.after ?? "")")
    }
    for type in types {
      guard let collection = type.collection, !kinds.contains(where: { $0.collection == collection }) else { continue }
      problems.report(type.about.path / "collection", "there is no kind with the collection \(collection)")
    }
  }

  /// Adds the types of listed objects to the domain that defines documents, and lists of them to its file format.
  mutating func expandSavedKinds(_ problems: Problems) {
    guard let index = domains.firstIndex(where: { $0.file != nil }),
      let file = domains[index].types.firstIndex(where: { $0.name == domains[index].file })
    else { return }
    for kind in kinds where kind.document == .listed {
      guard let type = types.first(where: { $0.collection == kind.collection }) else {
        problems.report(kind.path / "document", "no type has the collection, so there are no members to list")
        continue
      }
      let saved = kind.savedType(type, in: domains[index].name)
      domains[index].types.append(saved)
      guard case .object(let own) = domains[index].types[file].kind else { continue }
      let list = Property(
        name: kind.collection, type: .array(.named(saved.name), Constraints()),
        about: About(path: kind.path, doc: "In the order they were created.", since: type.about.since),
        defaultValue: .array([]), form: .apart)
      domains[index].types[file].kind = .object(own + [list])
    }
  }
}

extension Kind {
  /// The form of an object in a document: its id, its owner, and its saved members.
  fileprivate func savedType(_ type: TypeDefinition, in domain: String) -> TypeDefinition {
    func property(_ name: String, _ doc: String, isOptional: Bool = false) -> Property {
      Property(
        name: name, type: .named("ObjectId"), about: About(path: path, doc: doc, since: type.about.since),
        isOptional: isOptional)
    }
    let owner = property("owner", "The object that it closes with; absent for the session.", isOptional: true)
    let own = [property(noun, "Its id.")] + (isOwned ? [owner] : [])
    let kept = Set(own.map(\.name)).union(type.properties.filter(\.isInDocuments).map(\.name))
    return TypeDefinition(
      name: "Saved" + model, domain: domain,
      about: About(path: path, doc: type.about.doc, since: type.about.since), kind: .object(own), members: type.name,
      example: type.example.map { .object($0.members.filter { kept.contains($0.name) }) })
  }
}
