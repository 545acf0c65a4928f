/** Compares the shapes of two answers field by field, and rates each difference. */
import type { Finding, Severity } from '../check/finding.js'
import type { AnswerShape, Field, Kind, Shape, StreamShape } from './shape.js'

/** Returns all differences. The bodies of a success and of an error are not compared. */
export function compare(recorded: AnswerShape, live: AnswerShape): readonly Finding[] {
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

function compareStatus(recorded: number, live: number): readonly Finding[] {
  if (recorded === live) return []
  return [finding(severityOfStatus(recorded, live), 'status', `${recorded}, live ${live}`)]
}

function severityOfStatus(recorded: number, live: number): Severity {
  if (classOf(recorded) === classOf(live)) return 'warning'
  // Rate limits and server errors are temporary. If they no longer occur, the platform has not changed.
  const wasTemporary = recorded === 429 || recorded >= 500
  return wasTemporary && live < 400 ? 'warning' : 'critical'
}

function compareHeaders(recorded: readonly string[], live: readonly string[]): readonly Finding[] {
  const [removed, added] = [without(recorded, live), without(live, recorded)]
  return [
    ...removed.map(name => finding('warning', name, 'with this header, live without it')),
    ...added.map(name => finding('info', name, 'without this header, live with it')),
  ]
}

function compareTypes(recorded: AnswerShape, live: AnswerShape): readonly Finding[] {
  if (recorded.contentType === live.contentType) return []
  const sentence = `${recorded.contentType || 'none'}, live ${live.contentType || 'none'}`
  return [finding('critical', 'content-type', sentence)]
}

function compareBodies(recorded: AnswerShape['body'], live: AnswerShape['body']): readonly Finding[] {
  if (recorded.kind === 'JSON' && live.kind === 'JSON') return compareShapes(recorded.shape, live.shape)
  if (recorded.kind === 'stream' && live.kind === 'stream') return compareStreams(recorded, live)
  if (recorded.kind === live.kind) return []
  return [finding('critical', '', `${named(recorded)}, live ${named(live)}`)]
}

const named = ({ kind }: AnswerShape['body']) =>
  kind === 'stream' ? 'a stream' : kind === 'JSON' ? 'JSON as a whole' : kind

/** The path of the whole value is empty. */
export function compareShapes(recorded: Shape, live: Shape, path = ''): readonly Finding[] {
  return [
    ...compareKinds(recorded, live, path),
    ...compareWords(recorded, live, path),
    ...compareFields(recorded, live, path),
    ...compareItems(recorded, live, path),
  ]
}

/** `difference` is what was recorded, and what is live: `200, live 404`. */
const finding = (severity: Severity, path: string, difference: string): Finding => ({
  ...{ severity, path: path === '' ? 'body' : path },
  sentence: `recorded ${difference}`,
})

function compareKinds({ kinds: recorded }: Shape, { kinds: live }: Shape, path: string): readonly Finding[] {
  const severity = severityOfKinds(recorded, live)
  return severity ? [finding(severity, path, `${listed(recorded)}, live ${listed(live)}`)] : []
}

/** `undefined` if the kinds are the same. */
function severityOfKinds(recorded: readonly Kind[], live: readonly Kind[]): Severity | undefined {
  const [removed, added] = [without(recorded, live), without(live, recorded)]
  if (removed.length === 0 && added.length === 0) return undefined
  if (isOnlyNull(recorded)) return 'warning'
  // If an object or array has become null, so has everything inside. Most clients can handle a single value that is
  // null.
  if (isOnlyNull(live)) return removed.some(kind => kind === 'object' || kind === 'array') ? 'critical' : 'warning'
  if (added.some(kind => kind !== 'null')) return 'critical'
  if (removed.includes('null') || added.includes('null')) return 'warning'
  return 'info'
}

const isOnlyNull = (kinds: readonly Kind[]) => kinds.length === 1 && kinds[0] === 'null'

// These depend on what the model generates, and vary from one answer to the next.
const endings = new Set(['stop', 'length'])

function compareWords({ words: recorded = [] }: Shape, { words: live = [] }: Shape, path: string): readonly Finding[] {
  if (recorded.length === 0 || live.length === 0) return []
  const [removed, added] = [without(recorded, live), without(live, recorded)]
  if (removed.length === 0 && added.length === 0) return []
  const isEnding = path.endsWith('finish_reason') && [...removed, ...added].every(word => endings.has(word))
  const severity = added.length === 0 || isEnding ? 'info' : 'critical'
  return [finding(severity, path, `${listed(recorded)}, live ${listed(live)}`)]
}

function compareFields(recorded: Shape, live: Shape, path: string): readonly Finding[] {
  // If one of them has no object, compareKinds has reported that.
  if (!recorded.kinds.includes('object') || !live.kinds.includes('object')) return []
  const [recordedFields, liveFields] = [byName(recorded), byName(live)]
  const existing = [...recordedFields].flatMap(([name, field]) =>
    compareField(field, liveFields.get(name), pathTo(path, name)),
  )
  const added = [...liveFields].flatMap(([name, field]) =>
    recordedFields.has(name) ? [] : [newField(field, pathTo(path, name))],
  )
  return [...existing, ...added]
}

const byName = ({ fields = [] }: Shape) => new Map(fields.map(field => [field.name, field]))

function compareField(recorded: Field, live: Field | undefined, path: string): readonly Finding[] {
  const recordedKinds = listed(recorded.shape.kinds)
  if (!live) return [finding('critical', path, `${recordedKinds}, live nothing`)]
  const inside = compareShapes(recorded.shape, live.shape, path)
  if (recorded.optional || !live.optional) return inside
  return [finding('info', path, 'always present, live sometimes missing'), ...inside]
}

/** An `error` field that did not exist before is not just an addition. */
function newField({ name, shape }: Field, path: string): Finding {
  const isError = name === 'error' && !isOnlyNull(shape.kinds)
  return finding(isError ? 'critical' : 'warning', path, `nothing, live ${listed(shape.kinds)}`)
}

function compareItems(recorded: Shape, live: Shape, path: string): readonly Finding[] {
  if (!recorded.item || !live.kinds.includes('array')) return []
  if (!live.item) return [finding('warning', `${path}[]`, 'with items, live without')]
  return compareShapes(recorded.item, live.item, `${path}[]`)
}

const without = <T>(from: readonly T[], others: readonly T[]): readonly T[] => from.filter(one => !others.includes(one))

const listed = (words: readonly string[]) => words.join(' or ')

/** For example `choices[].message`, and `["odd name"]` for names that contain dots. */
function pathTo(path: string, name: string): string {
  if (!/^[^\s.[\]"]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

function compareStreams(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  if (recorded.frame && !live.frame) return [finding('critical', '', 'a stream with frames, live one without')]
  const frames = recorded.frame && live.frame ? compareShapes(recorded.frame, live.frame) : []
  return [
    ...compareFinish(recorded, live, frames),
    ...compareContent(recorded, live),
    ...compareOrder(recorded, live),
    ...compareDone(recorded, live),
  ]
}

/** A finish_reason that is null in all frames is critical, since clients wait for it. */
function compareFinish(recorded: StreamShape, live: StreamShape, frames: readonly Finding[]): readonly Finding[] {
  const isLost = recorded.parts.includes('finish') && !live.parts.includes('finish')
  if (!isLost) return frames
  return frames.map(found => (found.path.endsWith('finish_reason') ? { ...found, severity: 'critical' } : found))
}

/** A model may call tools instead of sending content, but with neither the client has no answer. */
function compareContent({ parts: recorded }: StreamShape, { parts: live }: StreamShape): readonly Finding[] {
  if (!recorded.includes('content') || live.includes('content') || live.includes('tool calls')) return []
  return [finding('critical', 'choices[].delta.content', 'with content, live without')]
}

/** Compares only the parts that both have. Missing parts show in the frames. */
function compareOrder(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  const recordedOrder = recorded.parts.filter(part => live.parts.includes(part)).join(', ')
  const liveOrder = live.parts.filter(part => recorded.parts.includes(part)).join(', ')
  if (recordedOrder === liveOrder) return []
  return [finding('info', 'order', `${recordedOrder}; live ${liveOrder}`)]
}

function compareDone(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  if (recorded.done === live.done) return []
  return recorded.done
    ? [finding('critical', '[DONE]', 'at the end of the stream, live missing')]
    : [finding('warning', '[DONE]', 'without it, live at the end of the stream')]
}
