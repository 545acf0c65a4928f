/** One tool: its description and schemas, a form that calls it, and its last calls. */
import { useState } from 'preact/hooks'
import { Failure } from '../failure.js'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TypedField } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { indented, isObject, jsonFrom } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { Section } from '../widgets/view.jsx'
import { LastCalls, useCalls } from './calls.jsx'
import { callTool, type ListedTool, type McpAddress } from './client.js'

interface Props {
  readonly tool: ListedTool
  readonly server: McpAddress
}

export function ToolSections({ tool, server }: Props) {
  const { name, description, inputSchema, outputSchema } = tool
  const calls = useCalls(server.path, name)
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      <Disclosure summary="Schemas">
        <CodeBlock label="Input schema" code={indented(inputSchema)} />
        {outputSchema && <CodeBlock label="Output schema" code={indented(outputSchema)} />}
      </Disclosure>
      <CallForm {...{ tool, server }} onCalled={calls.reload} />
      <LastCalls of={calls} />
    </>
  )
}

function CallForm({ tool: { name, inputSchema }, server, onCalled }: Props & { readonly onCalled: () => void }) {
  const fields = fieldsOf(inputSchema)
  const [values, setValues] = useState(() => initialValues(fields))
  const [result, setResult] = useState<Readonly<Record<string, unknown>>>()
  const call = async () => {
    setResult(undefined)
    const given = argumentsIn(fields, values)
    setResult(await callTool(server, name, given).finally(onCalled))
  }
  return (
    <Section title="Call" label="Call this tool">
      <Form send="Call tool" onSend={call} said="The tool has responded.">
        {fields.length === 0 && <p class="quiet">This tool takes no arguments.</p>}
        {fields.map(({ initial, ...field }) => (
          <TypedField
            key={field.name}
            {...field}
            value={values.get(field.name) ?? ''}
            onChange={value => setValues(before => new Map(before).set(field.name, value))}
          />
        ))}
      </Form>
      {result && (
        <div class="stack">
          {result.isError === true && <Notice tone="care">The tool reports an error.</Notice>}
          <CodeBlock label="Result" code={indented(result)} />
        </div>
      )}
    </Section>
  )
}

type ToolField = ReturnType<typeof fieldFor>

type Values = ReadonlyMap<string, string>

type Schema = Readonly<Record<string, unknown>>

function fieldsOf({ properties, required }: Schema): readonly ToolField[] {
  const needed = Array.isArray(required) ? required : []
  const all = isObject(properties) ? Object.entries(properties) : []
  return all.map(([name, property]) => fieldFor(name, isObject(property) ? property : {}, needed.includes(name)))
}

function fieldFor(name: string, schema: Schema, isRequired: boolean) {
  const { type, description, default: usual } = schema
  const values = Array.isArray(schema.enum) ? schema.enum : type === 'boolean' ? [true, false] : []
  const isNumber = type === 'number' || type === 'integer'
  const kind = values.length > 0 ? 'choice' : type === 'string' ? 'text' : isNumber ? 'number' : 'json'
  const initial = kind === 'text' ? String(usual) : kind === 'json' ? indented(usual) : JSON.stringify(usual)
  return {
    name,
    kind,
    label: kind === 'json' ? `${name} (JSON)` : name,
    hint: [isRequired ? 'Required.' : '', typeof description === 'string' ? description : ''].join(' ').trim(),
    choices: [['', 'Not set'] as const, ...values.map(value => JSON.stringify(value))],
    initial: usual === undefined ? '' : initial,
  } as const
}

const initialValues = (fields: readonly ToolField[]): Values =>
  new Map(fields.map(({ name, initial }) => [name, initial]))

/** Leaves out empty fields: the server says which arguments it requires. Throws a Failure for a field that cannot be parsed. */
const argumentsIn = (fields: readonly ToolField[], values: Values): Schema =>
  Object.fromEntries(
    fields.flatMap(field => {
      const text = values.get(field.name) ?? ''
      return text.trim() === '' ? [] : [[field.name, readAs(field, text)] as const]
    }),
  )

function readAs({ name, kind }: ToolField, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number') {
    const number = Number(text)
    if (Number.isFinite(number)) return number
    throw new Failure(-1, 'Enter a number.', { field: name })
  }
  return jsonFrom(text, name)
}
