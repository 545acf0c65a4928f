/** The form of a part of the control API: what answers, and what the document says of it. */
import type { Router } from 'express'
import type { check } from '../../core/check.js'

/** What is checked, and what the document's schemas are made from. */
export type Schema = Parameters<typeof check>[0]

/** As much of JSON Schema as answers need; what goes in is made from a `Schema`. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** What the document says of one answer. */
export interface Said {
  readonly what: string
  /** The form of a JSON body; without it there is no body, or one of another `type`. */
  readonly schema?: JsonSchema
  /** The content type of a body that is not JSON. */
  readonly type?: string
}

/** What the document says of one method on one path. */
export interface Operation {
  /** Its name, for clients that are made from the document. */
  readonly id: string
  readonly does: string
  readonly query?: Schema
  /** What headers mean, by their names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Schema
  /** Whether the body may be left out. */
  readonly isBodyOptional?: true
  /** By status; errors are all alike and said once. */
  readonly answers: Readonly<Record<number, Said | readonly Said[]>>
}

export type Method = 'get' | 'put' | 'post' | 'delete'

/** By path below /__standin, with a part that stands for anything in braces: `/journal/{id}`. */
export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>

/** A router, where it stands below /__standin, and what the document says of all that it answers. */
export interface ControlPart {
  readonly at: string
  readonly router: Router
  readonly paths: Paths
  /** Forms that answers refer to, by name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>
  /** Whether anybody may ask who reaches the address. */
  readonly isOpen?: true
}
