/** The client has gone or does not read, so that nobody needs what was begun for it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}
