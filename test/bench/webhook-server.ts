// A webhook that agrees at once, as a process of its own: what it costs is not the server's. Its certificate and key come
// as the first two arguments; it prints its port.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

const [, , cert = '', key = ''] = process.argv
const server = createServer({ cert, key }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const uid = /"uid":"([^"]+)"/.exec(Buffer.concat(chunks).toString('utf8', 0, 200))?.[1]
    const answer = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }
    const body = JSON.stringify(answer)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
  })
})
// it listens on an address
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
