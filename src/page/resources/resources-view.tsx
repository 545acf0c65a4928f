/** The collections of the configuration, and the rows of one of them. */
import { useState } from 'preact/hooks'
import { resourceAt, routes } from '../../dashboard/routes.js'
import type { ResourceSummary, RowView } from '../../resources/operations.js'
import { useControl } from '../api.js'
import { useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { Icon } from '../widgets/icon.jsx'
import { indented } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { counted } from '../wording.js'
import { RowDialog } from './row-dialog.jsx'

const EVERY_MS = 5000

export function ResourcesView() {
  const path = useAddress().query.get('path')
  return path === null ? <Resources /> : <Rows key={path} path={path} />
}

function Resources() {
  const control = useControl()
  const list = useResource(signal => control('GET /resources', { signal }), [control], EVERY_MS)
  return (
    <ListPage
      title="Resources"
      lead="Collections of rows that your app lists, reads, creates and changes."
      of={list}
      what="resource"
      caption="Resources"
      columns={resourceColumns}
      keyOf={({ path }) => path}
      empty={
        <Empty title="No resources yet">
          <p>
            Add <code>resources:</code> to <code>platform.config.yaml</code>, with a path such as{' '}
            <code>/builder/projects</code>.
          </p>
        </Empty>
      }
    />
  )
}

const resourceColumns: readonly Column<ResourceSummary>[] = [
  {
    name: 'Path',
    of: ({ path }) => (
      <Link to={resourceAt(path)} class="row-link">
        {path}
      </Link>
    ),
  },
  { name: 'Rows', width: '14%', of: ({ rows }) => counted(rows, 'row') },
  { name: 'Belong to', width: '16%', of: ({ owner }) => (owner === null ? 'everyone' : 'their users') },
  { name: 'Access', width: '24%', of: ({ access }) => [access].flat().join(', ') },
]

type Open = { readonly kind: 'add' | 'restore' } | { readonly kind: 'edit' | 'delete'; readonly row: RowView }

function Rows({ path }: { readonly path: string }) {
  const control = useControl()
  const list = useList(
    resourceAt(path),
    (query, signal) => control('GET /resources/{resource}/rows', { resource: path, query, signal }),
    [control, path],
    EVERY_MS,
  )
  const [open, setOpen] = useState<Open>()
  const done = (sentence: string) => {
    list.reload()
    announce(sentence)
  }
  return (
    <ListPage
      title={path}
      lead={<Link to={routes.resources}>All resources</Link>}
      action={list.value && <Actions onOpen={setOpen} />}
      of={list}
      what="row"
      searchLabel="Search rows"
      caption={`Rows of ${path}`}
      columns={rowColumns}
      keyOf={({ id }) => id}
      actionsWidth="11rem"
      actions={row => <RowButtons of={row} onOpen={setOpen} />}
      empty={
        <Empty title="No rows yet">
          <p>They appear here as soon as your app creates them.</p>
        </Empty>
      }
      nothingFound={
        <Empty title="No rows match">
          <p>The search looks at all fields.</p>
        </Empty>
      }
    >
      {open && <OpenDialog {...{ open, path }} onDone={done} onClosed={() => setOpen(undefined)} />}
    </ListPage>
  )
}

const MOST_SHOWN = 140

/** Wraps anywhere, since JSON may be one long word. */
const Code = ({ text }: { readonly text: string }) => (
  <code class="long-name">{text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text}</code>
)

const rowColumns: readonly Column<RowView>[] = [
  { name: 'Id', width: '18%', of: ({ id }) => <Code text={id} /> },
  { name: 'Row', plain: true, of: ({ row }) => <Code text={JSON.stringify(row)} /> },
  { name: 'Changed', width: '14%', of: ({ updated_at }) => <Moment at={updated_at} /> },
]

interface OpenProps {
  readonly onOpen: (open: Open) => void
}

const Actions = ({ onOpen }: OpenProps) => (
  <span class="row">
    <button type="button" class="button" onClick={() => onOpen({ kind: 'restore' })}>
      Restore
    </button>
    <button type="button" class="button button-main" onClick={() => onOpen({ kind: 'add' })}>
      <Icon name="plus" />
      Add row
    </button>
  </span>
)

const RowButtons = ({ of: row, onOpen }: OpenProps & { readonly of: RowView }) => (
  <>
    <button
      type="button"
      class="button button-small"
      aria-label={`Edit ${row.id}`}
      onClick={() => onOpen({ kind: 'edit', row })}
    >
      Edit
    </button>
    <button
      type="button"
      class="button button-small button-warns"
      aria-label={`Delete ${row.id}`}
      onClick={() => onOpen({ kind: 'delete', row })}
    >
      Delete
    </button>
  </>
)

interface OpenDialogProps {
  readonly open: Open
  readonly path: string
  readonly onDone: (sentence: string) => void
  readonly onClosed: () => void
}

function OpenDialog({ open, path, onDone, onClosed }: OpenDialogProps) {
  const control = useControl()
  switch (open.kind) {
    case 'add':
      return (
        <RowDialog
          title="Add a row"
          send="Add row"
          initial="{}"
          onSend={body => control('POST /resources/{resource}/rows', { resource: path, body })}
          onDone={() => onDone('The row is added.')}
          onClosed={onClosed}
        />
      )
    case 'edit':
      return (
        <RowDialog
          title={`Edit ${open.row.id}`}
          send="Save"
          initial={indented(open.row.row)}
          onSend={body =>
            control('PUT /resources/{resource}/rows/{id}', {
              resource: path,
              id: open.row.id,
              query: { how: 'replace' },
              body,
            })
          }
          onDone={() => onDone('The row is saved.')}
          onClosed={onClosed}
        />
      )
    case 'delete':
      return (
        <Confirm
          title={`Delete ${open.row.id}?`}
          send="Delete"
          tone="danger"
          onSend={() => control('DELETE /resources/{resource}/rows/{id}', { resource: path, id: open.row.id })}
          onDone={() => onDone('The row is deleted.')}
          onClosed={onClosed}
        />
      )
    case 'restore':
      return (
        <Confirm
          title="Restore the rows?"
          send="Restore"
          tone="danger"
          onSend={() => control('POST /resources/{resource}/restore', { resource: path })}
          onDone={() => onDone('The rows at the start are back.')}
          onClosed={onClosed}
        >
          <p>The rows of the data file come back. All others, and all changes, are lost.</p>
        </Confirm>
      )
  }
}
