// Refuses derived properties that depend on themselves when their view model is created.

extension World {
  /// Throws `cycle` if derived properties depend on themselves, directly or indirectly.
  func checkCycles(with model: ViewModel) throws(ModelError) {
    var done: Set<ModelPath> = []
    for path in model.derived {
      var stack: [ModelPath] = []
      var visited: Set<ModelPath> = []
      try visit(path, with: model, &stack, &visited, &done)
    }
  }

  private func visit(
    _ path: ModelPath, with model: ViewModel, _ stack: inout [ModelPath], _ visited: inout Set<ModelPath>,
    _ done: inout Set<ModelPath>
  ) throws(ModelError) {
    if visited.contains(path), let start = stack.firstIndex(of: path) {
      throw .flow(.cycle((stack[start...] + [path]).map(\.description)))
    }
    guard !done.contains(path), let object = path.object, stack.count < 1000 else { return }
    let here = object.id == model.id.rawValue ? model : viewModels[ViewModelID(object.id)]
    guard let here, let name = path.names.last, let derivation = (try? here.property(name.string))?.derivation
    else { return }
    stack.append(path)
    visited.insert(path)
    for path in derivation.sources(in: here.id) {
      for below in derived(at: path, with: model) { try visit(below, with: model, &stack, &visited, &done) }
    }
    stack.removeLast()
    visited.remove(path)
    done.insert(path)
  }

  /// The derived properties at, above or below a path.
  private func derived(at path: ModelPath, with model: ViewModel) -> [ModelPath] {
    guard let object = path.object, object.collection == .viewModels else { return [] }
    guard let here = object.id == model.id.rawValue ? model : viewModels[ViewModelID(object.id)] else { return [] }
    return here.derived(at: path.names.dropFirst(2))
  }
}
