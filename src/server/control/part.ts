/** The form of a part of the control API: what answers, and what the document says of it. */
import type { Router } from 'express'
import type { JsonSchema, Paths } from '../../core/operation.js'

export type { JsonSchema, Method, Operation, Paths, Said, Schema } from '../../core/operation.js'

/** A router, where it stands below /__standin, and what the document says of all that it answers. */
export interface ControlPart {
  readonly at: string
  readonly router: Router
  /** By path below /__standin. */
  readonly paths: Paths
  /** Forms that answers refer to, by name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>
  /** Whether anybody may ask who reaches the address. */
  readonly isOpen?: true
}
