// Errors of a value inside the params.

/// An error of one member of the params: its paths start from that member, and its subject is searched there.
package struct NestedError: Error {
  let error: any Error
  let member: String

  package init(_ error: any Error, in member: String) { (self.error, self.member) = (error, member) }
}
