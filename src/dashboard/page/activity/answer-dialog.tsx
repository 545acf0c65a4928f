/** The dialogs about an exchange: an answer by hand, what would be ignored, and another body to send. */
import type { RepairOffer } from '../../../repairs/operations.js'
import { control, Failure } from '../api.js'
import { Dialog } from '../widgets/dialog.jsx'
import { Field, Form, Select, TextArea, useFields } from '../widgets/fields.jsx'
import { useResource } from '../widgets/resource.js'
import { Notice, Shown } from '../widgets/states.jsx'
import { sendAgain } from './addresses.js'
import { textOf } from './conversation.jsx'
import { note, repair } from './repaired.js'

interface DialogProps {
  readonly id: string
}

/** What the server offers for an exchange. */
const useOffers = (id: string) =>
  useResource(async signal => (await control('GET /journal/{id}/repairs', { id, signal })).data, [id])

export function AnswerDialog({ id }: DialogProps) {
  return (
    <Dialog title="Answer this" wide>
      <Shown of={useOffers(id)}>
        {offers => {
          const ours = offers.filter(offer => offer.id.startsWith('answer'))
          const refused = ours[0]?.refused
          return refused ? <Notice tone="care">{refused}</Notice> : <AnswerForm id={id} offers={ours} />
        }}
      </Shown>
    </Dialog>
  )
}

type As = NonNullable<RepairOffer['answer']>['forms'][number]

const labels: Readonly<Record<As, string>> = { text: 'Text', json: 'JSON', tool: 'Tool call', fault: 'Fault' }

const fieldLabels: Readonly<Record<As, string>> = {
  text: 'What it says',
  json: 'The JSON that it says',
  tool: 'Arguments',
  fault: 'What goes wrong',
}

const placeholders: Readonly<Record<As, string>> = {
  text: '',
  json: '{"left": "Monday"}',
  tool: '{"number": "A-1042"}',
  fault: 'status=429; retryAfter=2',
}

interface AnswerFormProps extends DialogProps {
  readonly offers: readonly RepairOffer[]
}

function AnswerForm({ id, offers }: AnswerFormProps) {
  const { forms = [], tools = [], before } = offers[0]?.answer ?? {}
  const { values, field } = useFields({
    as: before?.as ?? ('text' as As),
    says: before?.says ?? '',
    tool: before?.tool || (tools[0] ?? ''),
    offer: offers[0]?.id ?? 'answer',
  })
  const use = async () => {
    const { offer, ...answer } = values
    const repaired = await repair(id, { id: offer, ...answer })
    if ('failed' in repaired) throw new Failure(-1, repaired.failed)
    note(id, repaired)
  }
  const { name: _as, ...as } = field('as')
  const { name: _offer, ...offer } = field('offer')
  const chosen = offers.find(one => one.id === values.offer)
  return (
    <Form send="Use from now on" onSend={use}>
      <div class="fields">
        <Select label="Reply" options={forms.map(one => [one, labels[one]] as const)} {...as} />
        {offers.length > 1 && (
          <Select label="For" options={offers.map(one => [one.id, wordsFor[one.id] ?? one.says] as const)} {...offer} />
        )}
      </div>
      <p class="quiet small">It answers {chosen?.applies}.</p>
      {values.as === 'tool' && <Field label="Tool" {...field('tool')} />}
      <TextArea
        label={fieldLabels[values.as]}
        rows={4}
        code={values.as !== 'text'}
        placeholder={placeholders[values.as]}
        {...field('says')}
      />
    </Form>
  )
}

const wordsFor: Readonly<Record<string, string>> = { answer: 'this conversation', 'answer-message': 'this message' }

/** Ignoring applies to all requests, so it says first which it would have confused. */
export function IgnoreDialog({ id }: DialogProps) {
  const use = async () => note(id, await repair(id, { id: 'ignore' }))
  return (
    <Dialog title="Ignore what differs">
      <Shown of={useOffers(id)}>
        {offers => {
          const offer = offers.find(one => one.id === 'ignore')
          if (!offer) return <Notice tone="care">Nothing can be ignored here.</Notice>
          return (
            <Form send={offer.says} onSend={use}>
              <p>It applies to every request: {offer.applies}.</p>
            </Form>
          )
        }}
      </Shown>
    </Dialog>
  )
}

/** Sends the request again with another body. */
export function EditDialog({ id }: DialogProps) {
  const loaded = useResource(signal => control('GET /journal/{id}', { id, query: { whole: true }, signal }), [id])
  return (
    <Dialog title="Edit and send" wide>
      <Shown of={loaded}>{({ request }) => <EditForm id={id} body={textOf(request.body)} />}</Shown>
    </Dialog>
  )
}

function EditForm({ id, body }: DialogProps & { readonly body: string }) {
  const { values, field } = useFields({ body })
  return (
    <Form send="Send" onSend={() => sendAgain(id, values.body)} said="The request was sent.">
      <TextArea
        label="Body"
        code
        rows={12}
        hint="Sent with its own credential. Secrets are shown by their names, and are sent like that."
        {...field('body')}
      />
    </Form>
  )
}
