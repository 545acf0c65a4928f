/** A search field and a pager for long lists. */
import { useEffect, useId } from 'preact/hooks'
import { announce } from './announcer.jsx'
import { Button } from './button.jsx'

interface Props {
  /** `Search recordings`. */
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** `31 recordings`; undefined while it is not known. */
  readonly found?: string | undefined
}

export function SearchField({ label, value, onChange, found }: Props) {
  const id = useId()
  useEffect(() => {
    if (value !== '' && found !== undefined) announce(`${found} found.`)
  }, [found])
  return (
    <search class="row">
      <label for={id} class="unseen">
        {label}
      </label>
      <input
        type="search"
        id={id}
        value={value}
        placeholder={label}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {found !== undefined && <p class="quiet">{found}</p>}
    </search>
  )
}

interface PagerProps {
  readonly offset: number
  readonly limit: number
  readonly total: number
  readonly onMove: (offset: number) => void
}

/** Moves through a list page by page. */
export function Pager({ offset, limit, total, onMove }: PagerProps) {
  if (total <= limit && offset === 0) return null
  const last = Math.min(offset + limit, total)
  return (
    <nav class="pager row" aria-label="Pages">
      <span class="push quiet">
        {Math.min(offset + 1, total)} to {last} of {total}
      </span>
      <Button small disabled={offset === 0} onClick={() => onMove(Math.max(0, offset - limit))}>
        Previous
      </Button>
      <Button small disabled={last >= total} onClick={() => onMove(offset + limit)}>
        Next
      </Button>
    </nav>
  )
}
