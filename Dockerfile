# The command in a small container: docker build -t flashlane . && docker run --rm flashlane demo
FROM docker.io/library/rust:1-slim-trixie AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /flashlane
COPY . .
RUN cargo build --locked --profile dist -p flashlane-cli
RUN touch target/what-if.b64 && packed=$(CARGO_PROFILE_WASM_LTO=fat scripts/what-if.sh) && if [ -n "$packed" ]; then cp "$packed" target/what-if.b64; fi

FROM docker.io/library/debian:trixie-slim
COPY --from=build /flashlane/target/dist/flashlane /flashlane/target/what-if.b64 /usr/local/bin/
WORKDIR /work
ENTRYPOINT ["flashlane"]
