/** The filters of the request list. The `/` key moves to the search. */
import { useEffect, useRef } from 'preact/hooks'
import { everything, type Filter } from './filter.js'

interface Props {
  readonly filter: Filter
  /** The scopes seen so far. */
  readonly scopes: readonly string[]
  readonly onChange: (filter: Filter) => void
}

const statuses = [
  ['2xx', '2xx, answered'],
  ['3xx', '3xx, sent elsewhere'],
  ['4xx', '4xx, refused'],
  ['5xx', '5xx, failed'],
  ['none', 'No answer'],
] as const
const modes = ['emulate', 'proxy', 'record', 'replay'].map(mode => [mode, mode] as const)

export function FilterBar({ filter, scopes, onChange }: Props) {
  const search = useRef<HTMLInputElement>(null)
  useSlash(() => search.current?.focus())
  const change = (changed: Partial<Filter>) => onChange({ ...filter, ...changed })
  // The scope in the page's address may not have been seen yet.
  const named = [...new Set([...scopes, filter.scope])].filter(scope => scope !== '').sort()
  const isAny = Object.entries(everything).some(([name, value]) => filter[name as keyof Filter] !== value)
  return (
    <search class="filters">
      <input
        ref={search}
        type="search"
        class="filter-text"
        aria-label="Search in path, status, rule, recording, model, error and credential"
        title="Also text:&quot;in a body&quot; model:gpt-4o* status:401 credential:&quot;my laptop&quot; endpoint:*completions method: path: caller: source: complete:"
        aria-keyshortcuts="/"
        placeholder="Search ( / )"
        value={filter.search}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        onInput={({ currentTarget }) => change({ search: currentTarget.value })}
      />
      <Choice
        label="Status"
        all="Any status"
        value={filter.status}
        from={statuses}
        onChoose={status => change({ status })}
      />
      <Choice label="Mode" all="Any mode" value={filter.mode} from={modes} onChoose={mode => change({ mode })} />
      {named.length > 0 && (
        <Choice
          label="Scope"
          all="Any scope"
          value={filter.scope}
          from={named.map(scope => [scope, scope] as const)}
          onChoose={scope => change({ scope })}
        />
      )}
      <label class="choice filter-problems">
        <input
          type="checkbox"
          checked={filter.problems}
          onChange={({ currentTarget }) => change({ problems: currentTarget.checked })}
        />
        Only misses and errors
      </label>
      {isAny && (
        <button
          type="button"
          class="button button-small"
          onClick={() => {
            onChange(everything)
            search.current?.focus()
          }}
        >
          Show all
        </button>
      )}
    </search>
  )
}

interface ChoiceProps {
  readonly label: string
  /** The text of the option for no filter. */
  readonly all: string
  readonly value: string
  readonly from: readonly (readonly [value: string, words: string])[]
  readonly onChoose: (value: string) => void
}

const Choice = ({ label, all, value, from, onChoose }: ChoiceProps) => (
  <span class="field filter-choice">
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      <option value="">{all}</option>
      {from.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  </span>
)

/** Calls `then` when `/` is pressed outside of text fields and dialogs. */
function useSlash(then: () => void): void {
  const latest = useRef(then)
  latest.current = then
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isWriting =
        event.target instanceof Element && event.target.matches('input, textarea, select, dialog, dialog *')
      if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
