// Preloaded into a server (`node --import`) that takes any port when it is told 0, and does not say which: it says so on
// standard error.

import net from "node:net";

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...options) {
  this.once("listening", () => console.error(`port ${this.address().port}`));
  return listen.apply(this, options);
};
