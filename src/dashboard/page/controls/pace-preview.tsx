/** Shows a text in the rhythm of a pace. */
import { useEffect, useState } from 'preact/hooks'
import type { Pace } from '../../../core/pace.js'
import { variation } from '../../../streaming/variation.js'

const pieces =
  'The quick brown fox jumps over the lazy dog, looks around, and does it all over again, because somebody wants to see how fast the words come.'.match(
    /\S+\s*/g,
  ) ?? []

/** When each piece comes, in milliseconds from the beginning; what the server does with the same numbers. */
function timesOf(pace: Pace, seed: number): readonly number[] {
  const { firstTokenMs, tokensPerSecond } = pace
  const vary = variation(pace, seed) ?? (() => 1)
  const stepMs = tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond
  let atMs = firstTokenMs * vary()
  return pieces.map((_piece, index) => {
    if (index > 0) atMs += stepMs * vary()
    return atMs
  })
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)}\u00a0s`

/** How many tokens an answer of a usual length has. */
const USUAL = 300

function inWords({ firstTokenMs, tokensPerSecond }: Pace): string {
  const wholeMs = firstTokenMs + (tokensPerSecond === 0 ? 0 : ((USUAL - 1) * 1000) / tokensPerSecond)
  if (wholeMs === 0) return `An answer of ${USUAL} tokens is there at once.`
  return `An answer of ${USUAL} tokens begins after ${seconds(firstTokenMs)} and takes ${seconds(wholeMs)}.`
}

export function PacePreview({ pace }: { readonly pace: Pace }) {
  /** When it began to play; nothing while it stands there as a whole. */
  const [beganMs, setBeganMs] = useState<number>()
  const [played, setPlayed] = useState(0)
  const isPlaying = beganMs !== undefined
  const count = isPlaying ? played : pieces.length

  useEffect(() => {
    if (beganMs === undefined) return
    const times = timesOf(pace, beganMs)
    let frame = requestAnimationFrame(function show(nowMs) {
      const due = times.filter(ms => ms <= nowMs - beganMs).length
      setPlayed(due)
      if (due < times.length) frame = requestAnimationFrame(show)
      else setBeganMs(undefined)
    })
    return () => cancelAnimationFrame(frame)
    // Played on demand: not whenever a number changes.
  }, [beganMs])

  function toggle(): void {
    setPlayed(0)
    setBeganMs(isPlaying ? undefined : performance.now())
  }

  return (
    <figure class="preview">
      <figcaption>
        <span>{inWords(pace)}</span>
        <button type="button" class="button button-small" onClick={toggle}>
          {isPlaying ? 'Stop' : 'Play it'}
        </button>
      </figcaption>
      {/* To be looked at; the sentence says the same to those who do not. */}
      <p class="preview-text" aria-hidden="true">
        {pieces.slice(0, count).join('')}
        {isPlaying && <span class="preview-caret" />}
        <span class="preview-room">{pieces.slice(count).join('')}</span>
      </p>
    </figure>
  )
}
