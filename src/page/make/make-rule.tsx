/** “Make a rule”: drafts a rule that repeats the answer to a request, to edit, try and save. */
import { useState } from 'preact/hooks'
import { useControl } from '../api.js'
import { RuleDialog } from './rule-editor.jsx'

interface Props {
  readonly entry: { readonly id: string }
}

/** A button for a request that rules can answer. */
export function MakeRule({ entry: { id } }: Props) {
  const control = useControl()
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="button button-small" onClick={() => setOpen(true)}>
        Make a rule<span class="unseen"> of request {id}</span>
      </button>
      {open && (
        <RuleDialog
          title="Create rule from this request"
          begin={signal => control('POST /replies/draft', { body: { exchange: id }, signal })}
          exchange={id}
          onClosed={() => setOpen(false)}
        />
      )}
    </>
  )
}
