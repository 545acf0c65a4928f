/** The error about a schema that cannot be used. A separate file, since a start needs no more of the code for schemas. */

/** No value can be generated for the schema. The message ends a sentence that begins with the name of the field. */
export class UnfitSchema extends Error {
  override readonly name = 'UnfitSchema'
}
