/** Goes through a listing page by page. */

interface Props {
  readonly offset: number
  readonly limit: number
  readonly total: number
  readonly onMove: (offset: number) => void
}

export function Pager({ offset, limit, total, onMove }: Props) {
  if (total <= limit && offset === 0) return null
  const last = Math.min(offset + limit, total)
  return (
    <nav class="pager" aria-label="Pages">
      <span>
        {Math.min(offset + 1, total)} to {last} of {total}
      </span>
      <button
        type="button"
        class="button button-small"
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - limit))}
      >
        Previous
      </button>
      <button type="button" class="button button-small" disabled={last >= total} onClick={() => onMove(offset + limit)}>
        Next
      </button>
    </nav>
  )
}
