/** The form of what is changed while it runs: GET says what holds, PUT changes it, DELETE goes back to the configuration. */
import { Router } from 'express'
import { only } from '../../core/only.js'
import { jsonIn } from '../json-in.js'
import { asRefusal } from '../refusals.js'
import type { ControlPart, JsonSchema, Schema } from './part.js'
import { object, yesOrNo } from './shapes.js'

interface Changing<Body extends Schema> {
  readonly at: string
  /** What the document calls it: `pace` makes `getPace`, `setPace` and `restorePace`. */
  readonly name: string
  /** The beginning of sentences: "The pace of streams". */
  readonly what: string
  readonly body: Body
  /** The form of what holds. */
  readonly shape: JsonSchema
  /** More that is told beside it. */
  readonly more?: Readonly<Record<string, JsonSchema>>
  show(): Promise<object>
  /** Throws a ProblemsError for what cannot be. `undefined` goes back. */
  change(to: ReturnTypeOf<Body> | undefined): void
}

type ReturnTypeOf<Body extends Schema> = Awaited<ReturnType<typeof jsonIn<Body>>>

export function createChangeablePart<Body extends Schema>({
  at,
  name,
  what,
  body,
  shape,
  more = {},
  show,
  change,
}: Changing<Body>): ControlPart {
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => void response.json(await show()))
    .put(async (request, response) => {
      const to = await jsonIn(request, body)
      try {
        change(to)
      } catch (error) {
        asRefusal(error)
      }
      response.json(await show())
    })
    .delete(async (_request, response) => {
      change(undefined)
      response.json(await show())
    })
    .all(only('GET', 'HEAD', 'PUT', 'DELETE'))
  const answers = {
    200: {
      what: 'What holds, what the configuration says, and whether somebody has changed it since.',
      schema: object({ inForce: shape, configured: shape, isChanged: yesOrNo, ...more }),
    },
  }
  const paths = {
    [at]: {
      get: { id: `get${name}`, does: `${what}.`, answers },
      put: {
        id: `set${name}`,
        does: `${what}, from the next request on, until the configuration says something else or all is reset. What is left out is as the configuration has it.`,
        body,
        answers,
      },
      delete: { id: `restore${name}`, does: `${what}, as the configuration has it.`, answers },
    },
  }
  return { at, router, paths }
}
