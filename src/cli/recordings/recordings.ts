/** `standin recordings …`: inspects and maintains recordings. */
import { list } from './list.js'
import { prune } from './prune.js'
import { rename } from './rename.js'
import { scan } from './scan.js'
import { show } from './show.js'

export const commands = {
  'recordings list': list,
  'recordings show': show,
  'recordings prune': prune,
  'recordings rename': rename,
  'recordings scan': scan,
}
