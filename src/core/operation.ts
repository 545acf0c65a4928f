/** What an endpoint says of itself: what goes in, what comes out, which errors; the OpenAPI document is made from it. */
import type { check } from '../check/check.js'

/** What is checked, and what the document's schemas are made from. */
export type DocumentedSchema = Parameters<typeof check>[0]

/** As much of JSON Schema as answers need; what goes in is made from a `Schema`. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A form that has a name of its own among the schemas of the document. */
export type NamedForm = readonly [name: string, form: DocumentedSchema | JsonSchema]

/** One kind of event of a stream. */
export interface SaidEvent {
  readonly what: string
  /** What stands behind `event:`, where there is such a line. */
  readonly name?: string
  /** What stands behind `data:`: JSON of this form, or the text itself. */
  readonly data: NamedForm | DocumentedSchema | string
}

/** Where platform-api.md says it. What has none is a decision of ours. */
interface Cited {
  /** The section, by its title. */
  readonly section?: string
  /** The fields that it names there; `messages[].role` is one of each element. */
  readonly fields?: readonly string[]
}

/** What the document says of one answer. */
export interface EndpointDescription extends Cited {
  readonly what: string
  /** The form of a JSON body; without it there is no body, or one of another `type`. */
  readonly schema?: JsonSchema | DocumentedSchema
  /** The same for a form that has a name. */
  readonly form?: NamedForm
  /** The content type of a body that is not JSON. */
  readonly type?: string
  /** The events of a stream. */
  readonly events?: readonly SaidEvent[]
}

/** What the document says of one method on one path. */
export interface Description extends Cited {
  /** Its name, for clients that are made from the document. */
  readonly id: string
  readonly does: string
  /** Further remarks. */
  readonly more?: string
  readonly query?: DocumentedSchema | JsonSchema | undefined
  /** What headers mean, by their names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: DocumentedSchema | JsonSchema | undefined
  /** Whether the body may be left out. */
  readonly isBodyOptional?: true
  /** The kinds of credential that open it, where the endpoint finds that out by itself. */
  readonly access?: readonly string[]
  /** Further conditions on the body that its own schema does not know, as JSON Schema. */
  readonly narrowed?: JsonSchema
  /** By status. */
  readonly answers: Readonly<Record<number, EndpointDescription | readonly EndpointDescription[]>>
  /** Errors beyond those that others have as well, by status. */
  readonly errors?: Readonly<Record<number, string>>
}
