/** Time as streams know it that share their speed: the more of them play, the slower it passes. */

/** The time of all streams with one `fullSpeedStreams`. */
export interface SharedTime {
  readonly fullSpeedStreams: number
  /** How many streams go by it. */
  streams: number
  /** When it was last read, on the real clock. */
  readMs: number
  /** What had passed of it then. */
  passedMs: number
}

/** How many milliseconds one of its milliseconds takes while `playing` streams play. */
export const stretch = ({ fullSpeedStreams }: SharedTime, playing: number) => Math.max(1, playing / fullSpeedStreams)

/** Lets it pass until `nowMs`, in which `playing` streams were playing all the time; gives back what has passed of it. */
export function readShared(time: SharedTime, nowMs: number, playing: number): number {
  if (nowMs > time.readMs) {
    time.passedMs += (nowMs - time.readMs) / stretch(time, playing)
    time.readMs = nowMs
  }
  return time.passedMs
}
