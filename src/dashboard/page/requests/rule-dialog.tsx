/** The dialog that makes a rule of an exchange: as YAML to copy into a rule file, or in memory. */
import { useState } from 'preact/hooks'
import { control } from '../api.js'
import { Button } from '../widgets/button.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Dialog, Finished } from '../widgets/dialog.jsx'
import { Form, useAction } from '../widgets/form.jsx'
import { useResource } from '../widgets/resource.js'
import { Notice, Shown } from '../widgets/states.jsx'

interface Props {
  /** The id of the exchange. */
  readonly exchange: string
}

export function RuleDialog({ exchange }: Props) {
  const body = { exchange }
  const draft = useResource(signal => control('POST /replies/draft', { body, signal }), [])
  const [id, setId] = useState<string>()
  const add = async () => {
    const { data } = await control('POST /replies/drafted', { body })
    setId(data[0]?.id)
  }
  return (
    <Dialog title="Create rule from this request" wide>
      {close =>
        id === undefined ? (
          <Shown of={draft}>
            {({ yaml, remarks }) => (
              <Form send="Add in memory" onSend={add} beside={<Button onClick={close}>Close</Button>}>
                {remarks.map(remark => (
                  <Notice key={remark} tone="care">
                    {remark}
                  </Notice>
                ))}
                <CodeBlock code={yaml} label="The rule" />
                <p class="quiet">
                  Copy it to a rule file and change it there. Or add it in memory: it then answers before all other
                  rules until Standin stops.
                </p>
              </Form>
            )}
          </Shown>
        ) : (
          <AddedNote id={id} close={close} />
        )
      }
    </Dialog>
  )
}

interface AddedNoteProps {
  /** The id of the rule. */
  readonly id: string
  readonly close: () => void
}

function AddedNote({ id, close }: AddedNoteProps) {
  const { busy, run } = useAction()
  const undo = async () => {
    await control('DELETE /replies/{id}', { id })
    close()
  }
  return (
    <Finished
      onClose={close}
      beside={
        <Button push aria-disabled={busy} onClick={() => run(undo, 'The rule was removed.')}>
          Undo
        </Button>
      }
    >
      Added. It answers before all other rules until Standin stops.
    </Finished>
  )
}
