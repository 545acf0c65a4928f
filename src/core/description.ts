/** What the OpenAPI document says about an endpoint. */
import type { check } from '../check/check.js'

/** A valibot schema, from which the OpenAPI document's JSON Schemas are made. */
export type DocumentedSchema = Parameters<typeof check>[0]

/** A JSON Schema of an answer. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A schema that has a name of its own in the OpenAPI document. */
export type NamedSchema = readonly [name: string, form: DocumentedSchema | JsonSchema]

/** One kind of event of a stream. */
export interface EventDescription {
  readonly what: string
  /** The value of `data:`: JSON of this schema, or a literal text. */
  readonly data: NamedSchema | string
}

/** Where platform-api.md specifies something. Without a section, it is our decision. */
interface Citation {
  /** The title of the section. */
  readonly section?: string
  /** The fields that the section names. `messages[].role` is a field of each element. */
  readonly fields?: readonly string[]
}

/** The description of one answer. */
export interface AnswerDescription extends Citation {
  readonly what: string
  /** The schema of a JSON body. Without one there is no body, or one of another `type`. */
  readonly schema?: JsonSchema
  /** The same for a named schema. */
  readonly form?: NamedSchema
  /** The content type of a body that is not JSON. */
  readonly type?: string
  /** The events of a stream. */
  readonly events?: readonly EventDescription[]
}

/** The description of one method on one path. */
export interface EndpointDescription extends Citation {
  /** The operation id, for generated clients. */
  readonly id: string
  readonly does: string
  /** Further remarks. */
  readonly more?: string
  readonly query?: JsonSchema | undefined
  /** What each header means. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: DocumentedSchema | JsonSchema | undefined
  /** Whether the body is optional. */
  readonly isBodyOptional?: true
  /** The accepted kinds of credential, if the endpoint itself checks them. */
  readonly access?: readonly string[]
  /** Further conditions on the body, as JSON Schema, that are not part of its own schema. */
  readonly constraint?: JsonSchema
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDescription | readonly AnswerDescription[]>>
  /** Errors in addition to those that all endpoints have, by status. */
  readonly errors?: Readonly<Record<number, string>>
}
