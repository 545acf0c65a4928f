/** “Make a rule of this”: drafts a rule that repeats the answer, to edit, try and keep. */
import { useEffect, useState } from 'preact/hooks'
import type { Draft } from '../../replies/operations.js'
import { type Control, useControl } from '../api.js'
import { type Failure, failureOf } from '../failure.js'
import { Dialog } from '../widgets/dialog.jsx'
import { Notice, Waiting } from '../widgets/states.jsx'
import { RuleEditor } from './rule-editor.jsx'

interface Props {
  readonly entry: { readonly id: string }
}

export function MakeRule({ entry }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="button button-small" onClick={() => setOpen(true)}>
        Make a rule<span class="unseen"> of request {entry.id}</span>
      </button>
      {open && <MakeRuleDialog entry={entry} onClosed={() => setOpen(false)} />}
    </>
  )
}

/** The dialog alone, for lists in which the request may disappear while the rule is being edited. */
export function MakeRuleDialog({ entry, onClosed }: Props & { readonly onClosed: () => void }) {
  const control = useControl()
  const { draft, failure } = useDraft(control, entry.id)
  return (
    <Dialog title="Make a rule of this" onClosed={onClosed}>
      {close => {
        if (draft) return <RuleEditor draft={draft} control={control} close={close} />
        if (!failure) return <Waiting />
        return (
          <>
            <Notice tone="danger">{failure.message}</Notice>
            <div class="form-buttons">
              <button type="button" class="button" onClick={close}>
                Close
              </button>
            </div>
          </>
        )
      }}
    </Dialog>
  )
}

/** Loaded once, so that the text does not change during editing. */
function useDraft(control: Control, exchange: string) {
  const [state, setState] = useState<{ readonly draft?: Draft; readonly failure?: Failure }>({})
  useEffect(() => {
    control('POST /replies/draft', { body: { exchange } }).then(
      draft => setState({ draft }),
      thrown => setState({ failure: failureOf(thrown) }),
    )
  }, [])
  return state
}
