/**
 * Loaded into the built command before anything else. Reports to its parent which JavaScript of ours was loaded when the port opens, and whether node's own fetch was, and later, on
 * request, how many bytes of its heap are in use, and how many the space for new objects has.
 */
import { Session } from 'node:inspector'
import { Server } from 'node:net'
import { getHeapSpaceStatistics } from 'node:v8'

const session = new Session()
const loaded = []
session.connect()
session.on('Debugger.scriptParsed', ({ params: { url, length } }) => {
  const isOurs = url.startsWith('file:') && url !== import.meta.url
  if (isOurs || url.includes('undici')) loaded.push({ url, length })
})
session.post('Debugger.enable')

const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => process.send({ port: this.address().port, loaded }))
  session.post('Debugger.disable')
  session.disconnect()
  return listen.apply(this, args)
}

process.on('message', () => {
  const young = getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
  process.send({ heapBytes: process.memoryUsage().heapUsed, youngBytes: young.space_size })
})
process.channel.unref()
