/** Compares two streams: their frames, the order of their parts, and how they end. */
import { compareShapes } from './compare-shapes.js'
import type { Drift } from './drift.js'
import type { StreamShape } from './stream-shape.js'

export function compareStreams(recorded: StreamShape, live: StreamShape): readonly Drift[] {
  if (recorded.frame && !live.frame) {
    return [{ severity: 'critical', path: 'body', sentence: 'recorded a stream with frames, live one without' }]
  }
  const frames = recorded.frame && live.frame ? compareShapes(recorded.frame, live.frame) : []
  return [
    ...compareFinish(recorded, live, frames),
    ...compareContent(recorded, live),
    ...compareOrder(recorded, live),
    ...compareDone(recorded, live),
  ]
}

/** A finish_reason that stays null to the end is more than a null: clients wait for it. */
function compareFinish(recorded: StreamShape, live: StreamShape, frames: readonly Drift[]): readonly Drift[] {
  const isLost = recorded.parts.includes('finish') && !live.parts.includes('finish')
  if (!isLost) return frames
  return frames.map(found => (found.path.endsWith('finish_reason') ? { ...found, severity: 'critical' } : found))
}

/** A model may call a tool instead, but one that says nothing at all says it where nobody listens. */
function compareContent({ parts: recorded }: StreamShape, { parts: live }: StreamShape): readonly Drift[] {
  if (!recorded.includes('content') || live.includes('content') || live.includes('tool calls')) return []
  return [{ severity: 'critical', path: 'choices[].delta.content', sentence: 'recorded with words, live without any' }]
}

/** Only of the parts that both have: which there are is up to the frames. */
function compareOrder(recorded: StreamShape, live: StreamShape): readonly Drift[] {
  const was = recorded.parts.filter(part => live.parts.includes(part)).join(', ')
  const is = live.parts.filter(part => recorded.parts.includes(part)).join(', ')
  if (was === is) return []
  return [{ severity: 'info', path: 'order', sentence: `recorded ${was}; live ${is}` }]
}

function compareDone(recorded: StreamShape, live: StreamShape): readonly Drift[] {
  if (recorded.done === live.done) return []
  if (recorded.done) {
    return [{ severity: 'critical', path: '[DONE]', sentence: 'recorded at the end of the stream, live not there' }]
  }
  return [{ severity: 'warning', path: '[DONE]', sentence: 'recorded without it, live at the end of the stream' }]
}
