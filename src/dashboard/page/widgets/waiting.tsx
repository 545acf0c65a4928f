/** Holds the place of what is on its way; it shows itself only when that takes a while. */
export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="unseen">Loading…</span>
    </div>
  )
}
