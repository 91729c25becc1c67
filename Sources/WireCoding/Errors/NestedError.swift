// Errors of a value within the params.

/// An error whose places are those of a member of the params: its paths lead from there, and what it names is looked for there.
package struct NestedError: Error {
  let error: any Error
  let member: String

  package init(_ error: any Error, in member: String) { (self.error, self.member) = (error, member) }
}
