// Pages that are opened from files may not start workers from files. Their search needs one: here it runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      const start = () => {
        document.body.append(this.frame);
        const inside = this.frame.contentWindow;
        // Messages arrive later, as they do from a worker.
        inside.postMessage = (data) => setTimeout(() => {
          const event = new MessageEvent("message", { data });
          this.onmessage?.(event);
          this.dispatchEvent(event);
        });
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = () => {
          this.ready = true;
          this.waiting.splice(0).forEach((data) => this.postMessage(data));
        };
        this.frame.contentDocument.body.append(script);
      };
      if (document.body) start(); else addEventListener("DOMContentLoaded", start);
    }

    postMessage(data) {
      if (!this.ready) {
        this.waiting.push(data);
        return;
      }
      const inside = this.frame.contentWindow;
      setTimeout(() => inside.dispatchEvent(new inside.MessageEvent("message", { data: inside.structuredClone(data) })));
    }

    terminate() { this.frame.remove(); }
  };
}
