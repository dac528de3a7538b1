import { turnOfHeavy } from './slices.ts'

/** The client has gone or does not read, so that nobody needs what was begun for it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** Lets others have their turn between the parts of work that nobody needs once the client has gone. @throws ClientGone */
export const turnUnlessGone =
  (hasGone = (): boolean => false, turn = turnOfHeavy) =>
  async (): Promise<void> => {
    await turn()
    if (hasGone()) throw new ClientGone('the client is gone')
  }
