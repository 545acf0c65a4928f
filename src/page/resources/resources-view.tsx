/** The collections of the configuration, and the rows of one of them. */
import { useState } from 'preact/hooks'
import { resourceAt, routes } from '../../dashboard/routes.js'
import type { ResourceSummary, RowView } from '../../resources/operations.js'
import { useControl } from '../api.js'
import { useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { ShortCode } from '../widgets/code-block.jsx'
import { ask, Confirm } from '../widgets/dialog.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Icon } from '../widgets/icon.jsx'
import { indented, objectWritten } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { EVERY_MS, ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { counted } from '../wording.js'

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
      columns={resourceColumns}
      keyOf={({ path }) => path}
      empty={
        <Empty title="No resources yet">
          Add <code>resources:</code> to <code>platform.config.yaml</code>, with a path such as{' '}
          <code>/builder/projects</code>.
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

/** The row that is edited; null for a new one. */
type Open = { readonly row: RowView | null }

function Rows({ path }: { readonly path: string }) {
  const control = useControl()
  const list = useList(
    resourceAt(path),
    (query, signal) => control('GET /resources/{resource}/rows', { resource: path, query, signal }),
    [control, path],
  )
  const [open, setOpen] = useState<Open>()
  const remove = ({ id }: RowView) =>
    ask({
      title: `Delete ${id}?`,
      send: 'Delete',
      act: () => control('DELETE /resources/{resource}/rows/{id}', { resource: path, id }),
      done: list.reload,
      said: 'The row is deleted.',
    })
  const restore = () =>
    ask({
      title: 'Restore the rows?',
      send: 'Restore',
      words: <p>The rows of the data file come back. All others, and all changes, are lost.</p>,
      act: () => control('POST /resources/{resource}/restore', { resource: path }),
      done: list.reload,
      said: 'The rows at the start are back.',
    })
  return (
    <ListPage
      title={path}
      lead={<Link to={routes.resources}>All resources</Link>}
      action={list.value && <Actions onAdd={() => setOpen({ row: null })} onRestore={restore} />}
      of={list}
      what="row"
      searches="all fields"
      caption={`Rows of ${path}`}
      columns={rowColumns}
      keyOf={({ id }) => id}
      actionsWidth="11rem"
      actions={row => <RowButtons of={row} onEdit={() => setOpen({ row })} onDelete={() => remove(row)} />}
      empty={<Empty title="No rows yet">They appear here as soon as your app creates them.</Empty>}
    >
      {open && <EditDialog path={path} row={open.row} onDone={list.reload} onClosed={() => setOpen(undefined)} />}
    </ListPage>
  )
}

const rowColumns: readonly Column<RowView>[] = [
  { name: 'Id', width: '18%', of: ({ id }) => <ShortCode text={id} /> },
  { name: 'Row', plain: true, of: ({ row }) => <ShortCode text={JSON.stringify(row)} /> },
  { name: 'Changed', width: '14%', of: ({ updated_at }) => <Moment at={updated_at} /> },
]

interface ActionsProps {
  readonly onAdd: () => void
  readonly onRestore: () => void
}

const Actions = ({ onAdd, onRestore }: ActionsProps) => (
  <span class="row">
    <Button onClick={onRestore}>Restore</Button>
    <Button tone="main" onClick={onAdd}>
      <Icon name="plus" />
      Add row
    </Button>
  </span>
)

interface RowButtonsProps {
  readonly of: RowView
  readonly onEdit: () => void
  readonly onDelete: () => void
}

const RowButtons = ({ of: { id }, onEdit, onDelete }: RowButtonsProps) => (
  <>
    <Button small aria-label={`Edit ${id}`} onClick={onEdit}>
      Edit
    </Button>
    <Button small tone="warns" aria-label={`Delete ${id}`} onClick={onDelete}>
      Delete
    </Button>
  </>
)

interface EditProps {
  readonly path: string
  readonly row: RowView | null
  readonly onDone: () => void
  readonly onClosed: () => void
}

/** A row, written as JSON. */
function EditDialog({ path: resource, row, onDone, onClosed }: EditProps) {
  const control = useControl()
  const initial = row === null ? '{}' : indented(row.row)
  const [text, setText] = useState(initial)
  const save = async () => {
    const body = objectWritten(text, 'row', '{"name": "Atlas"}')
    if (row === null) await control('POST /resources/{resource}/rows', { resource, body })
    else {
      await control('PUT /resources/{resource}/rows/{id}', { resource, id: row.id, query: { how: 'replace' }, body })
    }
  }
  return (
    <Confirm
      title={row === null ? 'Add a row' : `Edit ${row.id}`}
      send={row === null ? 'Add row' : 'Save'}
      isEdited={text !== initial}
      onSend={save}
      onDone={() => {
        onDone()
        announce(row === null ? 'The row is added.' : 'The row is saved.')
      }}
      onClosed={onClosed}
    >
      <TextArea label="Row (JSON)" name="row" code rows={12} value={text} onChange={setText} />
    </Confirm>
  )
}
