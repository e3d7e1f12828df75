import { World, type WorldFields } from "../world.ts";

/** The setting of most stories: E = Qw = 3, Qa = 2 on B0 B1 B2, with B3 to spare. */
export function threeOfFour(otherwise: Partial<WorldFields> = {}): Promise<World> {
  return World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2], ...otherwise });
}
