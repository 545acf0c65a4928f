/** Creates a self-signed certificate, encoded in DER (X.690) by hand. */
import { generateKeyPairSync, sign } from 'node:crypto'

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts)
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (digits: string) => der(0x18, Buffer.from(`${digits}Z`))

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
const commonName = objectId('550403')

/** A private key and its certificate as PEM, valid from 2020 to 2120. */
export function selfSigned(name = 'localhost') {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))))
  const facts = sequence(
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    sequence(time('20200101000000'), time('21200101000000')),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', facts, privateKey))
  const certificate = sequence(facts, ecdsaWithSha256, signature)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  }
}
