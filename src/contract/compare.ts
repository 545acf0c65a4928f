/** Compares the shapes of two answers field by field, and rates each difference. */
import type { Finding, Severity } from '../check/finding.js'
import type { AnswerShape, Field, Kind, Shape, StreamShape } from './shape.js'

/**
 * Returns all differences. `name` is what sentences call the first answer. The bodies of a success and of an error are
 * not compared.
 */
export function compare(recorded: AnswerShape, live: AnswerShape, name = 'recorded'): readonly Finding[] {
  const findings = differences(recorded, live)
  if (name === 'recorded') return findings
  return findings.map(finding => ({ ...finding, sentence: finding.sentence.replace(/^recorded\b/, name) }))
}

function differences(recorded: AnswerShape, live: AnswerShape): readonly Finding[] {
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
  return [finding(severityOfStatus(recorded, live), 'status', `recorded ${recorded}, live ${live}`)]
}

function severityOfStatus(recorded: number, live: number): Severity {
  if (classOf(recorded) === classOf(live)) return 'warning'
  // Rate limits and server errors are temporary: that they are gone is no change of the platform.
  const wasPassing = recorded === 429 || recorded >= 500
  return wasPassing && live < 400 ? 'warning' : 'critical'
}

function compareHeaders(recorded: readonly string[], live: readonly string[]): readonly Finding[] {
  const [gone, come] = [less(recorded, live), less(live, recorded)]
  return [
    ...gone.map(name => finding('warning', name, 'recorded as a header, live not there')),
    ...come.map(name => finding('info', name, 'recorded without this header, live with it')),
  ]
}

function compareTypes(recorded: AnswerShape, live: AnswerShape): readonly Finding[] {
  if (recorded.contentType === live.contentType) return []
  const sentence = `recorded ${recorded.contentType || 'none'}, live ${live.contentType || 'none'}`
  return [finding('critical', 'content-type', sentence)]
}

function compareBodies(recorded: AnswerShape['body'], live: AnswerShape['body']): readonly Finding[] {
  if (recorded.kind === 'JSON' && live.kind === 'JSON') return compareShapes(recorded.shape, live.shape)
  if (recorded.kind === 'stream' && live.kind === 'stream') return compareStreams(recorded, live)
  if (recorded.kind === live.kind) return []
  return [finding('critical', '', `recorded ${named(recorded)}, live ${named(live)}`)]
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

const finding = (severity: Severity, path: string, sentence: string): Finding => ({
  severity,
  path: path === '' ? 'body' : path,
  sentence,
})

function compareKinds({ kinds: recorded }: Shape, { kinds: live }: Shape, path: string): readonly Finding[] {
  const severity = severityOfKinds(recorded, live)
  return severity ? [finding(severity, path, `recorded ${listed(recorded)}, live ${listed(live)}`)] : []
}

/** `undefined` if the kinds are the same. */
function severityOfKinds(recorded: readonly Kind[], live: readonly Kind[]): Severity | undefined {
  const [gone, come] = [less(recorded, live), less(live, recorded)]
  if (gone.length === 0 && come.length === 0) return undefined
  if (isOnlyNull(recorded)) return 'warning'
  // Of an object or array, everything inside is gone. A single value that may be null is something that most clients
  // can handle.
  if (isOnlyNull(live)) return gone.some(kind => kind === 'object' || kind === 'array') ? 'critical' : 'warning'
  if (come.some(kind => kind !== 'null')) return 'critical'
  if (gone.includes('null') || come.includes('null')) return 'warning'
  return 'info'
}

const isOnlyNull = (kinds: readonly Kind[]) => kinds.length === 1 && kinds[0] === 'null'

// Like prose, these depend on the model and vary from one answer to the next.
const endings = new Set(['stop', 'length'])

function compareWords({ words: recorded = [] }: Shape, { words: live = [] }: Shape, path: string): readonly Finding[] {
  if (recorded.length === 0 || live.length === 0) return []
  const [gone, come] = [less(recorded, live), less(live, recorded)]
  if (gone.length === 0 && come.length === 0) return []
  const isEnding = path.endsWith('finish_reason') && [...gone, ...come].every(word => endings.has(word))
  const severity = come.length === 0 || isEnding ? 'info' : 'critical'
  return [finding(severity, path, `recorded ${listed(recorded)}, live ${listed(live)}`)]
}

function compareFields(recorded: Shape, live: Shape, path: string): readonly Finding[] {
  // If no object is left, that has been reported already.
  if (!recorded.kinds.includes('object') || !live.kinds.includes('object')) return []
  const [known, now] = [byName(recorded), byName(live)]
  const kept = [...known].flatMap(([name, field]) => compareField(field, now.get(name), at(path, name)))
  const fresh = [...now].flatMap(([name, field]) => (known.has(name) ? [] : [newField(field, at(path, name))]))
  return [...kept, ...fresh]
}

const byName = ({ fields = [] }: Shape) => new Map(fields.map(field => [field.name, field]))

function compareField(recorded: Field, live: Field | undefined, path: string): readonly Finding[] {
  const was = listed(recorded.shape.kinds)
  if (!live) return [finding('critical', path, `recorded ${was}, live nothing`)]
  const inside = compareShapes(recorded.shape, live.shape, path)
  if (recorded.optional || !live.optional) return inside
  return [finding('info', path, 'recorded always there, live now and then'), ...inside]
}

/** An `error` field that did not exist before is not just an addition. */
function newField({ name, shape }: Field, path: string): Finding {
  const isError = name === 'error' && !isOnlyNull(shape.kinds)
  return finding(isError ? 'critical' : 'warning', path, `recorded nothing, live ${listed(shape.kinds)}`)
}

function compareItems(recorded: Shape, live: Shape, path: string): readonly Finding[] {
  if (!recorded.item || !live.kinds.includes('array')) return []
  if (!live.item) return [finding('warning', `${path}[]`, 'recorded with items, live without')]
  return compareShapes(recorded.item, live.item, `${path}[]`)
}

const less = <T>(from: readonly T[], these: readonly T[]): readonly T[] => from.filter(one => !these.includes(one))

const listed = (words: readonly string[]) => words.join(' or ')

/** For example `choices[].message`, and `["odd name"]` for names that contain dots. */
function at(path: string, name: string): string {
  if (!/^[^\s.[\]"]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

function compareStreams(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  if (recorded.frame && !live.frame) return [finding('critical', '', 'recorded a stream with frames, live one without')]
  const frames = recorded.frame && live.frame ? compareShapes(recorded.frame, live.frame) : []
  return [
    ...compareFinish(recorded, live, frames),
    ...compareContent(recorded, live),
    ...compareOrder(recorded, live),
    ...compareDone(recorded, live),
  ]
}

/** A finish_reason that stays null to the end is worse than a null, since clients wait for it. */
function compareFinish(recorded: StreamShape, live: StreamShape, frames: readonly Finding[]): readonly Finding[] {
  const isLost = recorded.parts.includes('finish') && !live.parts.includes('finish')
  if (!isLost) return frames
  return frames.map(found => (found.path.endsWith('finish_reason') ? { ...found, severity: 'critical' } : found))
}

/** A model may call a tool instead, but one that says nothing leaves the client without an answer. */
function compareContent({ parts: recorded }: StreamShape, { parts: live }: StreamShape): readonly Finding[] {
  if (!recorded.includes('content') || live.includes('content') || live.includes('tool calls')) return []
  return [finding('critical', 'choices[].delta.content', 'recorded with words, live without any')]
}

/** Compares only the parts that both have. The frames show which parts there are. */
function compareOrder(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  const was = recorded.parts.filter(part => live.parts.includes(part)).join(', ')
  const is = live.parts.filter(part => recorded.parts.includes(part)).join(', ')
  if (was === is) return []
  return [finding('info', 'order', `recorded ${was}; live ${is}`)]
}

function compareDone(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  if (recorded.done === live.done) return []
  return recorded.done
    ? [finding('critical', '[DONE]', 'recorded at the end of the stream, live not there')]
    : [finding('warning', '[DONE]', 'recorded without it, live at the end of the stream')]
}
