/** The live platform's address, and the parts of requests and answers that the proxy uses. Node's classes have them too. */

export interface LiveAddress {
  readonly protocol: string
  readonly host: string
  readonly hostname: string
  readonly port: string
}

/** A request on its way. */
export interface LiveRequest {
  /** Whether the connection was used for another request before. */
  readonly reusedSocket: boolean
  readonly socket: { readonly bytesRead: number } | null
  destroy(): unknown
}

/** The headers that the proxy reads. All others are only forwarded. */
export interface KnownHeaders {
  readonly 'access-control-allow-origin'?: string | undefined
  readonly connection?: string | undefined
  readonly 'content-length'?: string | undefined
  readonly 'content-type'?: string | undefined
  readonly date?: string | undefined
  readonly 'transfer-encoding'?: string | undefined
}

/** An answer of which at least the head has arrived. */
export interface LiveAnswer {
  readonly statusCode?: number | undefined
  readonly statusMessage?: string | undefined
  /** Node's flat array. */
  readonly rawHeaders: readonly string[]
  readonly headers: KnownHeaders
  /** Whether all of it has arrived. */
  readonly complete: boolean
  /** How many bytes of the body have arrived and are still unread. */
  readonly readableLength: number
  read(): Buffer | null
  on(event: 'data' | 'end', listener: (bytes: Buffer) => void): unknown
  pause(): unknown
  resume(): unknown
  destroy(): unknown
}
