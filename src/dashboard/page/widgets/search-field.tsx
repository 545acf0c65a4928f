/** Looks for something in a listing as somebody types, and says how much was found. */
import { useEffect, useId } from 'preact/hooks'
import { announce } from './announcer.jsx'

interface Props {
  /** `Search recordings`. */
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** `31 recordings`; nothing for as long as nobody knows. */
  readonly found?: string | undefined
}

export function SearchField({ label, value, onChange, found }: Props) {
  const id = useId()
  useEffect(() => {
    if (value !== '' && found !== undefined) announce(`${found} found.`)
  }, [found])
  return (
    <search class="search">
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

/** `1 recording`, `31 recordings`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
