/** The error where no value can be made for a schema. */

/** The schema cannot be answered. The message is the end of a sentence that begins with the name of the field. */
export class UnfitSchema extends Error {
  override readonly name = 'UnfitSchema'
}
