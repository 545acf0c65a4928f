/**
 * Loaded into the built command before anything else. Reports to its parent which JavaScript of ours was loaded when the port opens, and whether node's own fetch was, and later, on
 * request, how many bytes of its heap are in use.
 */
import { Session } from 'node:inspector'
import { Server } from 'node:net'

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

process.on('message', () => process.send({ heapBytes: process.memoryUsage().heapUsed }))
process.channel.unref()
