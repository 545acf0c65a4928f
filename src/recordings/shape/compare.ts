/** Compares the shape of a recorded answer with that of a live one. */
import type { AnswerShape, BodyShape } from './answer-shape.js'
import { compareShapes } from './compare-shapes.js'
import { compareStreams } from './compare-streams.js'
import type { Drift, Severity } from './drift.js'

/** All that differs. The bodies of a success and of an error have nothing in common that could. */
export function compare(recorded: AnswerShape, live: AnswerShape): readonly Drift[] {
  const status = compareStatus(recorded.status, live.status)
  if (classOf(recorded.status) !== classOf(live.status)) return status
  return [
    ...status,
    ...compareHeaders(recorded.headers, live.headers),
    ...compareTypes(recorded, live),
    ...compareBodies(recorded.body, live.body),
  ]
}

const classOf = (status: number) => Math.floor(status / 100)

function compareStatus(recorded: number, live: number): readonly Drift[] {
  if (recorded === live) return []
  return [
    { severity: severityOfStatus(recorded, live), path: 'status', sentence: `recorded ${recorded}, live ${live}` },
  ]
}

function severityOfStatus(recorded: number, live: number): Severity {
  if (classOf(recorded) === classOf(live)) return 'warning'
  // Limits and failures pass: that they are over is no change of the platform.
  const wasPassing = recorded === 429 || recorded >= 500
  return wasPassing && live < 400 ? 'warning' : 'critical'
}

function compareHeaders(recorded: ReadonlySet<string>, live: ReadonlySet<string>): readonly Drift[] {
  const gone = [...recorded].filter(name => !live.has(name))
  const come = [...live].filter(name => !recorded.has(name))
  return [
    ...gone.map(path => ({ severity: 'warning', path, sentence: 'recorded as a header, live not there' }) as const),
    ...come.map(path => ({ severity: 'info', path, sentence: 'recorded without this header, live with it' }) as const),
  ]
}

function compareTypes(recorded: AnswerShape, live: AnswerShape): readonly Drift[] {
  if (recorded.contentType === live.contentType) return []
  const sentence = `recorded ${recorded.contentType || 'none'}, live ${live.contentType || 'none'}`
  return [{ severity: 'critical', path: 'content-type', sentence }]
}

function compareBodies(recorded: BodyShape, live: BodyShape): readonly Drift[] {
  if (recorded.kind === 'JSON' && live.kind === 'JSON') return compareShapes(recorded.shape, live.shape)
  if (recorded.kind === 'stream' && live.kind === 'stream') return compareStreams(recorded, live)
  if (recorded.kind === live.kind) return []
  return [{ severity: 'critical', path: 'body', sentence: `recorded ${named(recorded)}, live ${named(live)}` }]
}

const named = ({ kind }: BodyShape) => (kind === 'stream' ? 'a stream' : kind === 'JSON' ? 'JSON as a whole' : kind)
